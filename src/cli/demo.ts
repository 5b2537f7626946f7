export async function demo(_: { readonly kubeconfig?: string }): Promise<void> {}
