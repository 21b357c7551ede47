import { describe, expect, test } from '@jest/globals';
import { envFileValue } from '../../../kubernetes/environment/envFile.ts';
import { cpuTimeOf } from '../../support/cpuTime.ts';

const value = (text: string, key = 'A') => envFileValue(text, { key, path: 'config.env' });

describe('C21: an environment file', () => {
  test.each([
    ['a value as it is', 'A=\'$B "x" \\n # y\'', '$B "x" \\n # y'],
    ['an empty value', "A=''", ''],
    ['several lines', "A='one\ntwo'\nB='three'", 'one\ntwo'],
    ['spaces and comments around it', "# A='no'\n\n  A  =  'yes'  \n#", 'yes'],
    ['the last of one name', "A='1'\nA='2'\n", '2'],
    ['Windows line ends', "A='1'\r\nB='2'\r\n", '1'],
    ['no such name', "AA='1'", undefined],
    ['nothing', '', undefined],
  ])('may contain %s', (_what, text, expected) => {
    expect(value(text)).toBe(expected);
  });

  test.each([
    ['A=value', 1],
    ['\nA="value"', 2],
    ["A='one''two'", 1],
    ["A='one'$B", 1],
    ["A='open", 1],
    ["B='fine'\nnonsense", 2],
  ])('is rejected with %j, with the line number', (text, line) => {
    expect(() => value(text)).toThrow(
      expect.objectContaining({
        reason: 'CreateContainerConfigError',
        message: `couldn't parse env file: config.env, line ${line}: a variable is written NAME='value'`,
      }),
    );
  });

  test('is parsed in time proportional to its length', () => {
    const text = `a${' '.repeat(60_000)}`;
    expect(cpuTimeOf(() => expect(() => value(text)).toThrow())).toBeLessThan(1_000);
  });
});
