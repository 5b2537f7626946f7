import type { JsonObject } from '../api/object.js';
import type { ReconcileContext } from '../controller/controller.js';

/** A webhook: answers the reviews that an API server sends to one path. */
export interface Webhook {
  /** The kind of review that is received and returned. */
  readonly review: 'AdmissionReview' | 'ConversionReview';
  /** The API group: `admission.k8s.io` or `apiextensions.k8s.io`. */
  readonly group: string;
  /** The size limit of a review, in bytes. */
  readonly maxBytes: number;
  /**
   * Returns the `response` for the `request` of a review. Throws UnreadableReview for a request that is not of this
   * kind, and any other error on failure, to which the API server applies its `failurePolicy`.
   */
  respond(request: JsonObject, context: ReviewContext): Promise<object>;
}

/** The context of one review. The signal aborts when the caller no longer waits for the response. */
export type ReviewContext = Omit<ReconcileContext, 'metrics'>;

/** Thrown when the review is not of the kind that this webhook answers, because it was registered wrongly. */
export class UnreadableReview extends Error {
  override readonly name = 'UnreadableReview';
}
