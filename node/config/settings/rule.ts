/**
 * A validation rule of a kubelet that involves several fields of its configuration
 * (`pkg/kubelet/apis/config/validation` of 1.36).
 */
export interface ConfigRule<Fields> {
  /** The field that the error message names. */
  readonly at: keyof Fields & string;
  readonly message: string;
  readonly isSatisfied: (config: Fields) => boolean;
}

export const createRule = <Fields>(
  at: ConfigRule<Fields>['at'],
  message: string,
  isSatisfied: ConfigRule<Fields>['isSatisfied'],
): ConfigRule<Fields> => ({
  at,
  message,
  isSatisfied,
});
