/** The flags and the command line that clients of the node's API see. */
import { describe, expect, test } from '@jest/globals';
import { type Commands, createProgram } from '../../../cli/program.ts';
import { readFlags } from '../../../node/config/flags.ts';
import { compileConfig } from '../../../node/config/nodeConfig.ts';
import { displayedFlags, maskedCommandLine } from '../../../node/config/shownFlags.ts';

const URL = 'https://user:password@example.com/pods';
const defaults = { hostname: 'h', addresses: ['192.0.2.1'], rootDirectory: '/r', podLogsDirectory: '/var/log/pods' };
const compiled = (flags: Readonly<Record<string, string | boolean>> = {}) =>
  compileConfig({ flags: readFlags(flags), defaults });
const shown = (flags: Readonly<Record<string, string | boolean>> = {}) => displayedFlags(compiled(flags));

test('a command line is shown without the values of flags that may contain a secret', () => {
  const words = ['node', 'bin.mjs', 'run', '--manifest-url', URL, `--manifest-url=${URL}`, '--v=2', '--node-ip', '::1'];
  const masked = ['--manifest-url', '<masked>', '--manifest-url=<masked>'];
  expect(maskedCommandLine(words)).toEqual(['node', 'bin.mjs', 'run', ...masked, '--v=2', '--node-ip', '::1']);
  expect(maskedCommandLine(['--manifest-url-header=Authorization:Basic a==', '--x=a=b'])).toEqual([
    '--manifest-url-header=<masked>',
    '--x=a=b',
  ]);
});

test('C39: every flag of `run` and of `up` is listed, whether it is set or not', () => {
  // No command is run here, so none needs an implementation.
  const commands = createProgram({} as Commands).commands.filter((command) => ['run', 'up'].includes(command.name()));
  const flags = new Set(commands.flatMap(({ options }) => options.map(({ long }) => long ?? '')));
  const listed = shown();
  expect(commands).toHaveLength(2);
  expect([...flags].filter((flag) => !listed.has(flag.slice(2)))).toEqual([]);
});

test('C39: a flag that is set has the value that Go prints, and a secret is masked', () => {
  const listed = shown({
    '--manifest-url': URL,
    '--manifest-url-header': 'Authorization:secret',
    '--v': '2',
    '--node-ip': '192.0.2.1,2001:db8::1',
    '--node-labels': 'zone=b,disk=ssd',
    '--allowed-unsafe-sysctls': 'net.core.somaxconn,kernel.msg*',
    '--register-with-taints': 'example.com/gpu=yes:NoSchedule,dedicated:NoExecute',
    '--anonymous-auth': true,
  });
  expect(Object.fromEntries(listed)).toMatchObject({
    'manifest-url': '<masked>',
    'manifest-url-header': '<masked>',
    v: '2',
    'node-ip': '192.0.2.1,2001:db8::1',
    'node-labels': 'disk=ssd,zone=b',
    'allowed-unsafe-sysctls': '[net.core.somaxconn,kernel.msg*]',
    'register-with-taints': 'example.com/gpu=yes:NoSchedule,dedicated=:NoExecute',
    'anonymous-auth': 'true',
  });
});

describe('C39: a default is the value that takes effect without the flag', () => {
  const standalone = [...shown()];
  const inCluster = [...shown({ '--kubeconfig': '/k' })].filter(([name]) => name !== 'kubeconfig');
  const cases = [
    ...standalone.map((entry) => ({ entry, cluster: {} })),
    ...inCluster.map((entry) => ({ entry, cluster: { '--kubeconfig': '/k' } })),
  ].filter(({ entry: [, value] }) => value !== '' && value !== '[]');

  test.each(cases)('for --$entry.0=$entry.1 with the flags $cluster', ({ entry: [name, value], cluster }) => {
    const typed = value === 'true' || value === 'false' ? value === 'true' : value;
    const { userInput: _without, ...without } = compiled(cluster);
    const { userInput: _set, ...set } = compiled({ ...cluster, [`--${name}`]: typed });
    expect(set).toEqual(without);
  });
});
