import { expect, test } from '@jest/globals';
import { quotedText } from '../../../base/text/quotedText.ts';

test.each([
  ['plain, and more', '"plain, and more"'],
  ['"quoted" \\', '"\\"quoted\\" \\\\"'],
  ['a\tb\nc\r', '"a\\tb\\nc\\r"'],
  ['\u001b[31m\u0000', '"\\x1b[31m\\x00"'],
  ['\u200b\u00a0', '"\\u200b\\u00a0"'],
  ['\u{e0001}', '"\\U000e0001"'],
  ['gr\u00fc\u00df \u4e16 \u{1f600}', '"gr\u00fc\u00df \u4e16 \u{1f600}"'],
])('%j', (text, expected) => {
  expect(quotedText(text)).toBe(expected);
});
