/** An API server that knows nothing but whose tokens there are, and who may do what. */
import { connectionRefused } from '../toldTransport.ts';

/** What a SubjectAccessReview asks. */
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
  /** Users by their tokens. */
  readonly tokens = new Map<string, { readonly username: string; readonly groups?: readonly string[] }>();
  allowed: (deed: ReviewedDeed) => boolean = () => false;
  /** What was asked, in order. */
  readonly asked: Review[] = [];
  /** Fails what is asked while it is set. */
  trouble: (() => Error) | undefined;
  /** Holds answers back until it settles. */
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
    // Made by who asks, of these two kinds alone.
    const review = object as Review;
    this.asked.push(review);
    await this.holdBack;
    if (this.trouble !== undefined) throw this.trouble();
    if (review.kind === 'SubjectAccessReview') return { ...review, status: { allowed: this.allowed(review.spec) } };
    const user = this.tokens.get(review.spec.token ?? '');
    return { ...review, status: user === undefined ? { user: {} } : { authenticated: true, user } };
  };
}
