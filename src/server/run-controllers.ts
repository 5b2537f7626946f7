export async function startControllers(_: object): Promise<void> {}
