import type { JsonObject } from '../api/object.js';
import type { ReconcileContext } from '../controller/controller.js';

/** Answers the reviews that an API server sends to one path. */
export interface Webhook {
  /** The review that it answers: what kind of object is sent and expected back. */
  readonly review: 'AdmissionReview' | 'ConversionReview';
  /** `admission.k8s.io` or `apiextensions.k8s.io`. */
  readonly group: string;
  /** Most bytes of a review. */
  readonly maxBytes: number;
  /**
   * The `response` for the `request` of a review. Throws UnreadableReview for a request that is none of its, anything
   * else if it fails: the server that asked does then as `failurePolicy` says.
   */
  respond(request: JsonObject, context: ReviewContext): Promise<object>;
}

/** For one review. The signal aborts when nobody waits for the answer any more. */
export type ReviewContext = Omit<ReconcileContext, 'metrics'>;

/** The review is not what this webhook answers: whoever registered it made a mistake. */
export class UnreadableReview extends Error {
  override readonly name = 'UnreadableReview';
}
