/** A rule about several fields that a kubelet enforces (`pkg/kubelet/apis/config/validation` of 1.36). */
export interface Rule<Fields> {
  /** The field that the error message names. */
  readonly at: keyof Fields & string;
  readonly message: string;
  readonly holds: (config: Fields) => boolean;
}

export const rule = <Fields>(at: Rule<Fields>['at'], message: string, holds: Rule<Fields>['holds']): Rule<Fields> => ({
  at,
  message,
  holds,
});
