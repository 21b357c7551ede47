/** One way to break a rule of docs/conformance.md. */
export interface Mutation {
  /** The number of the rule, `C7`. */
  readonly rule: string;
  /** What is wrong then, in the words of the rule. */
  readonly breaks: string;
  /** The file of the product, and the text that stands in it exactly once. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /** The tests that must notice, where they are not all fast ones that carry the number. */
  readonly tests?: readonly string[];
}
