export async function openCustomResources(_: object): Promise<void> {}
