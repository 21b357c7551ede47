/** A part of a machine that is drawn separately. */
export interface Region {
  /** One word, used in the name of the drawing's file. */
  readonly id: string;
  readonly title: string;
  /** Dotted states. Each includes its substates, except for those that belong to a different region. */
  readonly holds: readonly string[];
  /** Compound states that are drawn without a box. */
  readonly open?: readonly string[];
  /** The usual path, in order. Other states are collapsed. If undefined, all are shown. */
  readonly straight?: readonly string[];
  /**
   * Layout of the boxes in columns from left to right, each from top to bottom. If undefined, they are laid out from
   * left to right in the order of the chart.
   */
  readonly columns?: readonly (readonly string[])[];
}
