const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const VALID_DIGITS = /^(?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{0,3}/;

const withoutLineBreaks = (text: string): string => text.replaceAll(/[\r\n]/g, '');

/**
 * Removes the line breaks from a base64 string. Returns undefined if the string is malformed. Padding is required
 * (`StdEncoding` of Go's `encoding/base64`).
 */
export function base64Digits(text: string): string | undefined {
  const digits = withoutLineBreaks(text);
  return BASE64.test(digits) ? digits : undefined;
}

/** Returns the number of valid digits at the start of a malformed base64 string. */
export const countValidDigits = (text: string): number => VALID_DIGITS.exec(withoutLineBreaks(text))?.[0].length ?? 0;
