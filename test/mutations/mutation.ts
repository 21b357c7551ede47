/** One way to break a rule of docs/conformance.md. */
export interface Mutation {
  /** The number of the rule, e.g. `C7`. */
  readonly rule: string;
  /** The resulting misbehavior, in the words of the rule. */
  readonly breaks: string;
  /** The product file to change. It contains `find` exactly once. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /** The tests that must fail. Default: the fast tests whose titles contain the rule's number. */
  readonly tests?: readonly string[];
}
