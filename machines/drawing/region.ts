/** A part of a machine that is looked at by itself. */
export interface Region {
  /** In one word: what a file of its drawing is called. */
  readonly id: string;
  readonly title: string;
  /** States, dotted, each with all that is inside it and in no other region. */
  readonly holds: readonly string[];
  /** Compound states that are drawn without a box around what is inside them. */
  readonly open?: readonly string[];
  /** The way that one usually goes, in its order; what is not on it is folded. Absent: all is shown. */
  readonly straight?: readonly string[];
  /** Where boxes stand: columns from the left, in each from the top. Absent: from the left in the order of the chart. */
  readonly columns?: readonly (readonly string[])[];
}
