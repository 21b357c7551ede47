import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type AskPods, askPods, complete } from '../../cli/complete.ts';
import { completionScript } from '../../cli/completionScripts.ts';
import { type Commands, createProgram } from '../../cli/program.ts';

// No command is run: only the names of what there is are read.
const program = createProgram({} as Commands);
const ask: AskPods = async ({ rootDir }) =>
  rootDir === '/elsewhere'
    ? [{ name: 'far', namespace: 'default' }]
    : [
        { name: 'web-host', namespace: 'default' },
        { name: 'db-host', namespace: 'shop' },
      ];

test.each([
  ['', ['run', 'up', 'down', 'get', 'describe', 'explain', 'version', 'charts', 'completion', 'help', ':none']],
  ['de', ['describe', ':none']],
  ['help ge', ['get', ':none']],
  ['get ', ['pods', 'nodes', 'events', ':none']],
  ['describe p', ['pod', ':none']],
  ['get pods ', ['web-host', 'db-host', ':none']],
  ['get po w', ['web-host', ':none']],
  ['explain po/d', ['po/db-host', ':none']],
  ['describe -n shop pod ', ['db-host', ':none']],
  ['get --root-dir /elsewhere pods ', ['far', ':none']],
  ['get --root-dir=/elsewhere pods ', ['far', ':none']],
  ['get nodes ', [':none']],
  ['get pods --al', ['--all-namespaces', ':none']],
  ['get pods -o ', ['wide', 'json', 'yaml', 'name', ':none']],
  ['get pods --output=j', ['--output=json', ':none']],
  ['get pods --output = j', ['json', ':none']],
  ['get pods -n s', ['shop', ':none']],
  ['get events --for pod/w', ['pod/web-host', ':none']],
  ['run --config ', [':file']],
  ['completion z', ['zsh', ':none']],
  ['nonsense ', [':none']],
])('"statelet %s" goes on with %j', async (line, found) => {
  expect(await complete(program, line.split(' '), ask)).toEqual(found);
});

test('without an agent there are no names, and no word of it', async () => {
  expect(await askPods({ rootDir: '/nowhere' })).toEqual([]);
});

test('bash offers what the command answers', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-completion-'));
  try {
    const command = join(directory, 'statelet');
    // It answers with the words that it was asked for.
    await writeFile(command, '#!/bin/sh\nshift 2\nfor word; do echo "got-$word"; done\necho :none\n', { mode: 0o755 });
    const script = `${completionScript('bash')}
COMP_WORDS=(${command} get po); COMP_CWORD=2; _statelet; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync('bash', ['-c', script], { encoding: 'utf8' })).toBe('got-get got-po\n');
  } finally {
    await rm(directory, { recursive: true });
  }
});
