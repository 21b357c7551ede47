/** A parsed selector, or a one-sentence description of a syntax error. */
export type ReadSelector<Selected> =
  | { readonly matches: (selected: Selected) => boolean }
  | { readonly problem: string };
