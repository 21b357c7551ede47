/** A fake API server that answers only TokenReviews and SubjectAccessReviews. */
import { connectionRefused } from '../toldTransport.ts';

/** The spec of a SubjectAccessReview. */
export interface ReviewedDeed {
  readonly user: string;
  readonly groups: readonly string[];
  readonly resourceAttributes: {
    readonly verb: string;
    readonly subresource: string;
    readonly name: string;
    readonly resource: string;
  };
}

interface Review {
  readonly kind: string;
  readonly spec: ReviewedDeed & { readonly token?: string };
}

export class Reviewer {
  /** Users by token. */
  readonly tokens = new Map<string, { readonly username: string; readonly groups?: readonly string[] }>();
  allowed: (deed: ReviewedDeed) => boolean = () => false;
  /** All requested reviews, in order. */
  readonly asked: Review[] = [];
  /** While it is set, every request fails with its error. */
  trouble: (() => Error) | undefined;
  /** Delays all responses until it settles. */
  holdBack: Promise<void> | undefined;

  get isAway(): boolean {
    return this.trouble !== undefined;
  }

  set isAway(isAway: boolean) {
    this.trouble = isAway ? connectionRefused : undefined;
  }

  count(kind: string): number {
    return this.asked.filter((review) => review.kind === kind).length;
  }

  create = async (_path: string, object: object): Promise<unknown> => {
    // The client creates only reviews of these two kinds.
    const review = object as Review;
    this.asked.push(review);
    await this.holdBack;
    if (this.trouble !== undefined) throw this.trouble();
    if (review.kind === 'SubjectAccessReview') return { ...review, status: { allowed: this.allowed(review.spec) } };
    const user = this.tokens.get(review.spec.token ?? '');
    return { ...review, status: user === undefined ? { user: {} } : { authenticated: true, user } };
  };
}
