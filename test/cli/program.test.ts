import { describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { type Commands, createProgram } from '../../cli/program.ts';

/** Returns commands that only report their name and arguments. */
function commandsReportingTo(report: (call: readonly unknown[]) => void): Commands {
  const hear =
    (command: string) =>
    async (...given: unknown[]) =>
      report([command, ...given]);
  return {
    run: hear('run'),
    up: hear('up'),
    down: hear('down'),
    get: hear('get'),
    getActors: hear('getActors'),
    getEvents: hear('getEvents'),
    getNodes: hear('getNodes'),
    describe: hear('describe'),
    explain: hear('explain'),
    top: hear('top'),
    topPods: hear('topPods'),
    topNodes: hear('topNodes'),
    imageList: hear('imageList'),
    imageImport: hear('imageImport'),
    imagePull: hear('imagePull'),
    imageRemove: hear('imageRemove'),
    replay: hear('replay'),
    inspect: hear('inspect'),
    recordDump: hear('recordDump'),
    logs: hear('logs'),
    delete: hear('delete'),
    exec: hear('exec'),
    attach: hear('attach'),
    charts: hear('charts'),
    version: hear('version'),
    completion: hear('completion'),
    complete: hear('complete'),
  };
}

/** Returns the command that these arguments select, with its parameters. */
async function selectedCommand(...words: string[]): Promise<unknown> {
  let call: unknown;
  const commands = commandsReportingTo((given) => {
    call = given;
  });
  await createProgram(commands).parseAsync(['node', 'statelet', ...words]);
  return call;
}

describe('get', () => {
  test.each([
    [
      ['get', 'po'],
      ['get', { headers: true }],
    ],
    [
      ['get', 'pods', 'web', '-o', 'wide'],
      ['get', { name: 'web', output: 'wide', headers: true }],
    ],
    [
      ['get', 'pod/web'],
      ['get', { name: 'web', headers: true }],
    ],
    [
      ['get', 'ev', '--for', 'pod/web'],
      ['getEvents', { for: 'pod/web', headers: true }],
    ],
    [
      ['get', 'no', '-o', 'wide'],
      ['getNodes', { output: 'wide', headers: true }],
    ],
    [
      ['get', 'node/host'],
      ['getNodes', { name: 'host', headers: true }],
    ],
    [
      ['get', 'actors', 'web', 'is:retrying', '-w'],
      ['getActors', ['web', 'is:retrying'], { watch: true, headers: true }],
    ],
    [
      ['get', 'actor', '--filter', 'ns:shop'],
      ['getActors', [], { filter: 'ns:shop', headers: true }],
    ],
    [
      ['get', 'events/e1'],
      ['getEvents', { name: 'e1', headers: true }],
    ],
  ])('%j', async (words, call) => {
    expect(await selectedCommand(...words)).toEqual(call);
  });

  test.each([
    [['get', 'pots'], 'pots: unknown kind of resource; did you mean pods?'],
    [['get', 'tables'], 'tables: unknown kind of resource; there are pods, nodes, events and actors'],
    [['get', 'svc'], 'svc: an agent has no Services: use kubectl; there are pods, nodes, events and actors'],
    [
      ['get', 'cm'],
      'cm: an agent only reads the ConfigMaps and Secrets that its pods use; "statelet describe pod NAME" names them; there are pods, nodes, events and actors',
    ],
    [['get', 'ns'], 'ns: use "statelet get pods -A", or -n NAMESPACE; there are pods, nodes, events and actors'],
    [
      ['apply', '-f', 'web.yaml'],
      'apply: an agent runs the manifests of a directory: copy the file to that of --pod-manifest-path; in a cluster, use kubectl',
    ],
    [['port-forward', 'web', '80'], 'port-forward: a pod has an address on its node'],
    [['cp', 'web:/x', '.'], 'cp: use "statelet exec POD -- cat FILE" to read a file'],
    [['debug', 'web'], 'debug: use "statelet explain pod/NAME"'],
    [['label', 'pod/web', 'a=b'], 'label: an agent takes metadata from manifests'],
    [['wait', '--for=condition=Ready', 'pod/web'], 'wait: use "statelet get pods --watch"'],
    [['cordon', 'node'], 'cordon: an agent does not schedule pods'],
    [['config', 'view'], 'config: the settings of an agent are its flags and the file of --config'],
    [['api-resources'], 'api-resources: an agent knows pods, nodes, events and actors'],
    [['auth', 'can-i', 'get', 'pods'], 'auth: the API server decides who may do what'],
    [['stop'], 'stop: use "statelet down"'],
    [['get', 'pod/web', 'db'], 'pod/web db: expected pod or pod/NAME'],
    [['get', 'pod/'], 'pod/: expected pod or pod/NAME'],
    [['get', 'no', '-w'], '--watch: nodes cannot be watched'],
    [['get', 'pods', '--types', 'Warning'], '--types: supported only for events'],
    [['get', 'events', '--filter', 'web'], '--filter: supported only for actors'],
    [['get', 'actors', '-l', 'app'], '--selector, --field-selector: actors are not Kubernetes objects: use a filter'],
    [['get', 'actors/web'], 'actors/web: expected actors and a filter'],
    [['get', 'actors', '--for', 'pod/web'], '--for: supported only for events'],
  ])('rejects %j', async (words, message) => {
    await expect(selectedCommand(...words)).rejects.toThrow(message);
  });
});

describe('top', () => {
  test.each([
    [['top'], ['top', [], {}]],
    [
      ['top', 'web', 'is:retrying', '-n', 'shop'],
      ['top', ['web', 'is:retrying'], { namespace: 'shop' }],
    ],
    [
      ['top', 'pods'],
      ['topPods', { headers: true }],
    ],
    [
      ['top', 'po', 'web', '--containers', '--sort-by=cpu', '--no-headers', '-A', '-l', 'app=web'],
      [
        'topPods',
        { name: 'web', containers: true, sortBy: 'cpu', headers: false, allNamespaces: true, selector: 'app=web' },
      ],
    ],
    [
      ['top', 'nodes', '--sort-by', 'memory'],
      ['topNodes', { sortBy: 'memory', headers: true }],
    ],
    [
      ['top', 'no/host'],
      ['topNodes', { name: 'host', headers: true }],
    ],
  ])('%j', async (words, call) => {
    expect(await selectedCommand(...words)).toEqual(call);
  });

  test.each([
    [['top', 'web', '--containers'], '--containers: only "top pods" takes this flag'],
    [['top', 'nodes', '-A'], '--all-namespaces: only "top pods" takes this flag'],
    [['top', 'nodes', '-n', 'shop'], '--namespace: nodes have no namespace'],
    [['top', '--no-headers'], '--no-headers: only "top pods" and "top nodes" take this flag'],
    [['top', 'pods', 'web', 'db'], 'pods web db: expected pods or pods/NAME'],
  ])('rejects %j', async (words, message) => {
    await expect(selectedCommand(...words)).rejects.toThrow(message);
  });
});

describe('image', () => {
  test.each([
    [
      ['image', 'list'],
      ['imageList', [], { headers: true }],
    ],
    [
      ['image', 'ls', 'web:1', '-o', 'wide', '--no-headers'],
      ['imageList', ['web:1'], { output: 'wide', headers: false }],
    ],
    [
      ['image', 'import', 'web.tar', '--name', 'web:1'],
      ['imageImport', 'web.tar', { name: 'web:1' }],
    ],
    [
      ['image', 'import', '-'],
      ['imageImport', '-', {}],
    ],
    [
      ['image', 'pull', 'a', 'b', '--state-dir', '/state'],
      ['imagePull', ['a', 'b'], { stateDir: '/state' }],
    ],
    [
      ['image', 'rm', 'a', '--container-runtime-endpoint', 'unix:///s'],
      ['imageRemove', ['a'], { containerRuntimeEndpoint: 'unix:///s' }],
    ],
  ])('%j', async (words, call) => {
    expect(await selectedCommand(...words)).toEqual(call);
  });
});

describe('logs and delete', () => {
  test.each([
    [
      ['logs', 'pod/web'],
      ['logs', ['pod/web'], {}],
    ],
    [
      ['logs', '-f', 'web', 'app', '--tail', '-1', '--prefix'],
      ['logs', ['web', 'app'], { follow: true, tail: '-1', prefix: true }],
    ],
    [
      ['logs', '-p', '-c', 'app', '--tail=5', '--limit-bytes=10', '-n', 'shop', 'web'],
      ['logs', ['web'], { previous: true, container: 'app', tail: '5', limitBytes: '10', namespace: 'shop' }],
    ],
    [
      ['logs', 'web', '--all-containers', '--since', '5m', '--timestamps'],
      ['logs', ['web'], { allContainers: true, since: '5m', timestamps: true }],
    ],
    [
      ['delete', 'pod', 'web', '-n', 'shop'],
      ['delete', ['pod', 'web'], { namespace: 'shop' }],
    ],
  ])('%j', async (words, call) => {
    expect(await selectedCommand(...words)).toEqual(call);
  });
});

describe('inspect', () => {
  test('receives the file and the address to serve it at', async () => {
    expect(await selectedCommand('inspect', 'node.rec')).toEqual(['inspect', 'node.rec', {}]);
    expect(await selectedCommand('inspect', 'node.rec', '--address', '127.0.0.1:0')).toEqual([
      'inspect',
      'node.rec',
      { address: '127.0.0.1:0' },
    ]);
  });
});

describe('exec and attach', () => {
  test.each([
    [
      ['exec', 'pod/web', '-it', '--', 'sh', '-c', 'ls --all'],
      ['exec', ['pod/web'], ['sh', '-c', 'ls --all'], { stdin: true, tty: true }],
    ],
    [
      ['exec', '-i', 'pod', 'web', '-c', 'main', '-n', 'shop', '-q', '--', 'cat', '--', '-i'],
      ['exec', ['pod', 'web'], ['cat', '--', '-i'], { stdin: true, container: 'main', namespace: 'shop', quiet: true }],
    ],
    [
      ['attach', 'pod/web', '-it', '-c', 'main'],
      ['attach', ['pod/web'], { stdin: true, tty: true, container: 'main' }],
    ],
  ])('%j', async (words, call) => {
    expect(await selectedCommand(...words)).toEqual(call);
  });

  test.each([
    [['exec', 'pod/web', 'ls'], 'exec POD COMMAND is not supported: use exec POD -- COMMAND instead'],
    [['exec', 'pod/web'], 'you must specify at least one command for the container'],
    [['exec', 'pod/web', '--'], 'you must specify at least one command for the container'],
    [['exec', '--', 'ls'], 'which pod? expected pod/NAME before --'],
  ])('reject %j', async (words, message) => {
    await expect(selectedCommand(...words)).rejects.toThrow(message);
  });
});

test('the help of each command lists the choices of -o once', () => {
  const program = createProgram(commandsReportingTo(() => {}));
  const helps = (command: Command): string[] => {
    const output = command.options.find(({ short }) => short === '-o');
    const own = output?.argChoices === undefined ? [] : [command.createHelp().optionDescription(output)];
    return [...own, ...command.commands.flatMap(helps)];
  };
  const all = helps(program);
  expect(all.length).toBeGreaterThan(3);
  for (const help of all) expect(help).toMatch(/^[^(]*\(choices: (?:"[^"]+"(?:, )?)+\)$/);
});
