/** Parses the value of a boolean flag. Other values are returned unchanged for the validation to reject. */
export const parseBooleanFlag = (value: string): boolean | string =>
  value === 'true' || value === 'false' ? value === 'true' : value;
