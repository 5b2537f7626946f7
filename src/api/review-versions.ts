/** The versions of admission and conversion reviews that can be sent to webhooks. */
export const reviewVersions: readonly string[] = ['v1', 'v1beta1'];

/** Returns the first version in the webhook's list that can be sent; undefined if there is none. */
export const reviewVersion = (accepted: readonly string[] | null | undefined): string | undefined =>
  accepted?.find((version) => reviewVersions.includes(version));
