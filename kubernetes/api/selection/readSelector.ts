/** What a selector chooses, or in one sentence what is wrong with it. */
export type ReadSelector<Selected> =
  | { readonly matches: (selected: Selected) => boolean }
  | { readonly problem: string };
