/**
 * Who may import whom: imports go only downward between the folders, and nowhere in a circle, imports of types included.
 * ARCHITECTURE.md says why.
 */

/** A folder may import its own files, the folders and files named, and the packages and Node modules named ('*': any). */
function only(folder, { folders = [], files = [], packages = '*', node = '*' }) {
  const allowed = [...own([folder, ...folders]), ...files.map((file) => `^${file}$`), ...packagesPath(packages)];
  const from = { path: `^${folder}/` };
  const rules = [
    {
      name: `${folder}-imports-only-${['itself', ...folders].join('-')}`,
      comment: `${folder}/ may import ${listed(folders)} and, of packages, ${packages === '*' ? 'any' : listed(packages)}.`,
      severity: 'error',
      from,
      to: { pathNot: allowed, dependencyTypesNot: ['core'] },
    },
  ];
  if (node === '*') return rules;
  const comment = `I/O, time and chance come into ${folder}/ as input; of Node it may import ${listed(node)}.`;
  const pathNot = node.map((name) => `^${name}$`);
  const to = { dependencyTypes: ['core'], ...(pathNot.length > 0 ? { pathNot } : {}) };
  return [...rules, { name: `${folder}-is-pure`, comment, severity: 'error', from, to }];
}

const own = (folders) => folders.map((folder) => `^${folder}/`);
const packagesPath = (packages) =>
  packages === '*' ? ['(^|/)node_modules/'] : packages.map((name) => `(^|/)node_modules/${name}/`);
const listed = (names) => (names.length > 0 ? names.join(', ') : 'nothing');

/** Those that reach the host's files by themselves, each for a reason. */
const ON_THE_HOST = [
  // By handles of directories, as containers may put links anywhere in a volume.
  'volume/mount/bindSubPath',
  'volume/ownership',
  'volume/volumeTasks',
  // What the kernel has mounted.
  'volume/mount/hostMounter',
  'volume/mount/mount',
  // Only the numbers of the kinds of files.
  'volume/plugins/hostPath',
  'volume/simulated/simulatedMounter',
  // A temporary directory of its own.
  'actors/simulated/startSimulatedNode',
];

module.exports = {
  forbidden: [
    ...only('base', { packages: [], node: [] }),
    ...only('kubernetes', { folders: ['base'], packages: ['zod'], node: ['crypto'] }),
    ...only('show', { folders: ['base', 'kubernetes'], packages: [], node: [] }),
    ...only('machines', { folders: ['base', 'kubernetes', 'show'], packages: ['xstate'], node: [] }),
    ...only('host', { folders: ['base', 'kubernetes'] }),
    ...only('cri', { folders: ['base', 'kubernetes', 'show', 'host'] }),
    ...only('volume', { folders: ['base', 'kubernetes', 'host'] }),
    ...only('stats', { folders: ['base', 'kubernetes', 'host', 'cri'] }),
    ...only('kubeclient', { folders: ['base', 'kubernetes'] }),
    ...only('actors', {
      folders: ['base', 'kubernetes', 'show', 'machines', 'host', 'cri', 'volume', 'stats', 'kubeclient'],
    }),
    ...only('socket', { folders: ['base', 'kubernetes', 'show', 'machines', 'host', 'actors'] }),
    ...only('recording', { folders: ['base', 'kubernetes', 'show', 'machines', 'host', 'actors'] }),
    ...only('inspect', {
      folders: ['base', 'kubernetes', 'show', 'machines', 'host', 'actors', 'socket', 'recording'],
    }),
    ...only('kubelet-api', {
      folders: ['base', 'kubernetes', 'show', 'machines', 'host', 'cri', 'kubeclient', 'actors', 'stats'],
    }),
    ...only('node', {
      folders: [
        'base',
        'kubernetes',
        'show',
        'machines',
        'host',
        'cri',
        'volume',
        'kubeclient',
        'actors',
        'stats',
        'socket',
        'kubelet-api',
        'recording',
        'inspect',
      ],
    }),
    {
      name: 'files-of-a-node-through-its-file-system',
      comment: "A node's files are where its parts say: all access to them goes through its FileSystem.",
      severity: 'error',
      from: { path: '^(actors|volume|host/pods)/', pathNot: ON_THE_HOST.map((file) => `^${file}[.]ts$`) },
      to: {
        path: [
          '^fs(/promises)?$',
          '^host/files/(entries|fileTail|gzipFile|mountinfo|removeTree|safeOpen|withoutLinks)[.]ts$',
        ],
      },
    },
    // kubectl and a node use the same streaming protocols as a node and its runtime, and both servers release reset
    // connections.
    ...only('testing/apiserver', {
      folders: ['base', 'kubernetes', 'show', 'cri/streaming'],
      files: ['host/connectionGuard.ts'],
    }),
    ...only('testing/simulation', {
      folders: [
        'base',
        'kubernetes',
        'show',
        'machines',
        'host',
        'cri',
        'volume',
        'kubeclient',
        'actors',
        'testing/apiserver',
      ],
    }),
    {
      name: 'nobody-imports-tests',
      severity: 'error',
      from: { pathNot: '^(test|jest[.]config|scripts/(conformance|mutate|soak|trafficPage))' },
      to: { path: '^test/' },
    },
    {
      name: 'the-daemon-imports-no-test-tools',
      severity: 'error',
      from: {
        path: '^(base|kubernetes|show|machines|host|cri|volume|kubeclient|actors|stats|socket|kubelet-api|recording|inspect|node)/',
      },
      to: { path: '^testing/' },
    },
    {
      name: 'nobody-imports-the-command-line',
      severity: 'error',
      from: { pathNot: '^(cli|test|scripts/reference)' },
      to: { path: '^cli/' },
    },
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphan',
      comment: 'A module that imports nothing and that nobody imports is not part of the product.',
      severity: 'error',
      from: {
        orphan: true, // The bench gives its probe to another process by path.
        pathNot: ['(^|/)[.][^/]+$', '^[^/]+[.](config[.])?[cm]?js$', '^test/bench/eventLoopProbe[.]mjs$'],
      },
      to: {},
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-development-package-in-the-product',
      severity: 'error',
      from: {
        path: '^(base|kubernetes|show|machines|host|cri|volume|kubeclient|actors|stats|socket|kubelet-api|recording|node|cli)/',
      },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    // swc reads TypeScript as it is written, imports of types too; the compiler's own API ends with TypeScript 6.
    parser: 'swc',
    doNotFollow: { path: '(^|/)node_modules/' },
    // The parser reads no JSX: test/web/importRules.test.ts says who may import whom in the page. The examples are
    // projects of their own, which import the package by its name.
    exclude: { path: '^(dist|docs|coverage|examples|web|test/web)/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
