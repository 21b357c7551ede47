/** The message that the program prints when it exits with an error. */
import { expect, jest, test } from '@jest/globals';
import { NodeFailure } from '../../../base/failure.ts';
import { errorText } from '../../../cli/output/errorText.ts';

/** Returns an error with a code, like those of Node.js. */
const coded = (message: string, fields: object): Error => Object.assign(new Error(message), fields);

test('a user error or a system error is printed as its message alone', () => {
  expect(errorText(new NodeFailure('BadRequest', '--port: 70000 is no port\nSee --help.'))).toBe(
    'statelet: --port: 70000 is no port\nstatelet: See --help.\n',
  );
  expect(errorText(coded('EROFS: read-only file system', { code: 'EROFS', syscall: 'open' }))).toBe(
    'statelet: EROFS: read-only file system\n',
  );
});

test('the message for too many open files names the remedy', () => {
  const refused = coded('EMFILE: too many open files, scandir', { code: 'EMFILE', syscall: 'scandir' });
  const helps = 'too many open files: raise the limit (ulimit -n)\n';
  expect(errorText(refused)).toBe(`statelet: EMFILE: too many open files, scandir: ${helps}`);
  expect(errorText(new NodeFailure('BadRequest', 'cannot list', { cause: refused }))).toBe(
    `statelet: cannot list: ${helps}`,
  );
  // Node.js reads the package.json of each module that it loads.
  const unread = { code: 'ERR_INVALID_PACKAGE_CONFIG' };
  expect(errorText(coded('Cannot read package config /x/package.json: too many open files.', unread))).toBe(
    `statelet: Cannot read package config /x/package.json: ${helps}`,
  );
});

test('a permission error tells a user other than root that root is required', () => {
  const denied = coded("EACCES: permission denied, mkdir '/var/lib/statelet'", { code: 'EACCES', syscall: 'mkdir' });
  const getuid = jest.spyOn(process, 'getuid');
  try {
    getuid.mockReturnValue(1_000);
    expect(errorText(denied)).toBe("statelet: EACCES: permission denied, mkdir '/var/lib/statelet': this needs root\n");
    getuid.mockReturnValue(0);
    expect(errorText(denied)).toBe("statelet: EACCES: permission denied, mkdir '/var/lib/statelet'\n");
  } finally {
    getuid.mockRestore();
  }
});

test('an internal error is printed with its stack', () => {
  const error = coded('Invalid package config /x/package.json.', { code: 'ERR_INVALID_PACKAGE_CONFIG' });
  expect(errorText(error)).toMatch(/^statelet: Error: Invalid package config .*\nstatelet: {5}at /);
  expect(errorText('nothing')).toBe('statelet: nothing\n');
});
