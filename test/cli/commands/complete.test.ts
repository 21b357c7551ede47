import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { complete, type ListPods, listPods } from '../../../cli/commands/complete.ts';
import { type Commands, createProgram } from '../../../cli/program.ts';

// The tests run no command. They only complete names of commands, flags and objects.
const program = createProgram({} as Commands);
const ask: ListPods = async ({ rootDir }) =>
  rootDir === '/elsewhere' || rootDir === join(homedir(), 'elsewhere')
    ? [{ name: 'far', namespace: 'default', containers: ['app'] }]
    : [
        { name: 'web-host', namespace: 'default', containers: ['setup', 'app', 'proxy'], volumes: ['data'] },
        { name: 'db-host', namespace: 'shop', containers: ['db'] },
      ];

test.each([
  [
    '',
    [
      'run',
      'up',
      'down',
      'get',
      'describe',
      'explain',
      'top',
      'version',
      'charts',
      'exec',
      'attach',
      'image',
      'logs',
      'delete',
      'record',
      'replay',
      'inspect',
      'completion',
      'help',
      ':none',
    ],
  ],
  ['de', ['describe', 'delete', ':none']],
  ['help ge', ['get', ':none']],
  ['get ', ['pods', 'nodes', 'events', 'actors', ':none']],
  ['describe p', ['pod', ':none']],
  ['get pods ', ['web-host', 'db-host', ':none']],
  ['get po w', ['web-host', ':none']],
  ['explain po/d', ['po/db-host', ':none']],
  ['exec ', ['pod', ':none']],
  ['exec -i pod/w', ['pod/web-host', ':none']],
  ['attach pod d', ['db-host', ':none']],
  ['describe -n shop pod ', ['db-host', ':none']],
  ['get --root-dir /elsewhere pods ', ['far', ':none']],
  ['get --root-dir=/elsewhere pods ', ['far', ':none']],
  ['get --root-dir ~/elsewhere pods ', ['far', ':none']],
  ['explain pod/web -c ', ['setup', 'app', 'proxy', ':none']],
  ['explain pod db -c ', ['db', ':none']],
  ['explain --container=p', ['--container=proxy', ':none']],
  ['explain pod/web --volume ', ['data', ':none']],
  ['replay node.rec --explain pod/db -c ', ['db', ':none']],
  ['get nodes ', [':none']],
  ['top ', ['pods', 'nodes', ':none']],
  ['top pods w', ['web-host', ':none']],
  ['top pods --sort-by=', ['--sort-by=cpu', '--sort-by=memory', ':none']],
  ['image ', ['list', 'import', 'pull', 'remove', ':none']],
  ['image import ', [':file']],
  ['get pods --al', ['--all-namespaces', ':none']],
  ['get pods -o ', ['wide', 'json', 'yaml', 'name', ':none']],
  ['get pods --output=j', ['--output=json', ':none']],
  ['get pods --output = j', ['json', ':none']],
  ['get pods -n s', ['shop', ':none']],
  ['get events --for pod/w', ['pod/web-host', ':none']],
  ['logs ', ['web-host', 'db-host', ':none']],
  ['logs pod/w', ['pod/web-host', ':none']],
  ['logs web ', ['setup', 'app', 'proxy', ':none']],
  ['logs pod/web-host a', ['app', ':none']],
  ['logs web app ', [':none']],
  ['logs -f web -c ', ['setup', 'app', 'proxy', ':none']],
  ['logs -n shop -c ', ['db', ':none']],
  ['logs web --container=p', ['--container=proxy', ':none']],
  ['logs web --a', ['--all-containers', ':none']],
  ['delete ', ['pod', ':none']],
  ['delete pod/d', ['pod/db-host', ':none']],
  ['run --config ', [':file']],
  ['completion z', ['zsh', ':none']],
  ['record ', ['dump', ':none']],
  ['record dump ', [':file']],
  ['record dump --root-dir ', [':file']],
  ['record nonsense ', [':none']],
  ['replay ', [':file']],
  ['replay node.rec --ch', ['--check', ':none']],
  ['replay node.rec --explain ', [':none']],
  ['inspect ', [':file']],
  ['inspect node.rec --a', ['--address', ':none']],
  ['run --inspect', ['--inspect-address', ':none']],
  ['nonsense ', [':none']],
])('"statelet %s" is completed with %j', async (line, found) => {
  expect(await complete(program, line.split(' '), ask)).toEqual(found);
});

test('without an agent, pod names are not completed, and no error is printed', async () => {
  expect(await listPods({ rootDir: '/nowhere' })).toEqual([]);
});
