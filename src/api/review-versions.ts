/** Versions in which reviews, of admission and of conversion, are sent to webhooks. */
export const reviewVersions: readonly string[] = ['v1', 'v1beta1'];

/** The first of these that a webhook takes; undefined if it takes none. */
export const reviewVersion = (accepted: readonly string[] | null | undefined): string | undefined =>
  accepted?.find((version) => reviewVersions.includes(version));
