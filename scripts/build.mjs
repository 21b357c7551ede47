/**
 * Bundles cli/main.ts, and the library (index.ts, testing.ts) beside it, into dist/: less memory and a faster start than
 * their modules one by one. What one mode does not need is imported late there and becomes a file of its own. Also npm's
 * `prepare`.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOfSources } from '../node/start/machinesDigest.ts';
import { buildPage, pageDirectory } from './buildPage.mjs';
import { logCallers } from './logCallers.ts';
import { stampNodePackages } from './setup/nodePackages.mjs';
import { root, say } from './setup/places.mjs';
import { withoutDescriptions } from './withoutDescriptions.ts';

const dist = join(root, 'dist');
const main = join(root, 'cli/main.ts');
/** What cli/bin.mjs keeps of earlier runs. */
const compiled = join(dist, 'compiled');
/** What scripts/types.mjs makes. */
const types = join(dist, 'types');

/**
 * Asks Node for its HTTP modules by a call. An `import` of them reads every export, and for three of those Node loads
 * its whole undici: 13 MiB and 70 ms for nothing.
 */
const leanHttp = {
  name: 'lean-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:https?$/ }, ({ path }) => ({ path, namespace: 'lean-http' }));
    onLoad({ filter: /^/, namespace: 'lean-http' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

/**
 * What gRPC asks for at its start and hardly needs: the modules of Node wait for their first use (2 MiB). What reads
 * .proto files at run time, and the worker threads of pino's transports, nobody here uses.
 */
const lateParts = {
  name: 'late-parts',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?(zlib|dns)$/ }, ({ path }) => ({
      path: path.replace('node:', ''),
      namespace: 'late',
    }));
    onLoad({ filter: /^/, namespace: 'late' }, ({ path }) => ({
      // Names of its own: `import { createGzip }` of a module in CommonJS takes what it has of these.
      contents: `for (const name of ${JSON.stringify(Object.keys(process.getBuiltinModule(path)))})
        Object.defineProperty(exports, name, { enumerable: true, get: () => process.getBuiltinModule('${path}')[name] });`,
    }));
    onResolve({ filter: /^(@grpc\/proto-loader|thread-stream)$/ }, ({ path }) => ({ path, namespace: 'unused' }));
    onLoad({ filter: /^/, namespace: 'unused' }, ({ path }) => ({
      contents: `module.exports = class { constructor() { throw new Error('${path} is no part of this bundle'); } };`,
    }));
  },
};

/** The daemon's bundle leaves out what the other commands load: V8 holds its whole text in memory. */
const DAEMON_LOADS = /(?:^|\/)(?:run|up|ownRuntime|startNode)\.ts$/;
const noOtherCommands = {
  name: 'no-other-commands',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\.ts$/ }, ({ path, importer, kind }) =>
      kind === 'dynamic-import' && importer === main && !DAEMON_LOADS.test(path)
        ? { path, namespace: 'other-command' }
        : undefined,
    );
    onLoad({ filter: /^/, namespace: 'other-command' }, ({ path }) => ({
      contents: `throw new Error('${path} is no part of this bundle');`,
    }));
  },
};

/** Packages in CommonJS ask for Node's modules by `require`, which a module does not have. */
const withRequire = {
  js: "import { createRequire as stateletRequire } from 'node:module';\nconst require = stateletRequire(import.meta.url);",
};

const common = {
  absWorkingDir: root,
  outdir: dist,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  sourcemap: true,
  metafile: true,
  define: { STATELET_MACHINES: JSON.stringify(digestOfSources(root)) },
  plugins: [leanHttp, lateParts],
  logLevel: 'warning',
};

const command = {
  ...common,
  entryPoints: { statelet: main },
  chunkNames: 'parts/[name]-[hash]',
  splitting: true,
  banner: withRequire,
};

/** For cli/compileCache.mjs: one function, in one file without an import. */
const daemon = {
  ...common,
  entryPoints: { daemon: main },
  outExtension: {},
  format: 'cjs',
  banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
  footer: { js: '})' },
  // Only the callers of the log are looked up in the map, at build time.
  sourcemap: 'external',
  // V8 holds the whole text in memory. Names stay: stack traces need them, and no map is shipped.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  define: { ...common.define, 'import.meta.dirname': '__dirname' },
  plugins: [noOtherCommands, withoutDescriptions, ...common.plugins],
  write: false,
};

/** Packages stay outside: who builds on it has one xstate, not two; nor has the node its machines twice. */
const library = {
  ...common,
  entryPoints: { index: join(root, 'index.ts'), testing: join(root, 'testing.ts') },
  packages: 'external',
  chunkNames: 'parts/[name]-[hash]',
  splitting: true,
};

/** A thread has a file of its own, and so has a process. */
const worker = {
  ...common,
  entryPoints: {
    manifestWorker: join(root, 'actors/sources/manifest/manifestWorker.ts'),
    volumeChild: join(root, 'volume/volumeChild.ts'),
    usageChild: join(root, 'stats/pods/usageChild.ts'),
    pastWorker: join(root, 'inspect/past/pastWorker.ts'),
  },
  banner: withRequire,
  sourcemap: false,
};

async function build() {
  if (!existsSync(main)) return say('there is no cli/main.ts to bundle');
  const esbuild = await import('esbuild').catch(() => undefined);
  if (esbuild === undefined) return say('no bundle without the development packages: the sources run as they are');
  const startedAt = new Date();
  mkdirSync(dist, { recursive: true });
  const bundled = await esbuild.build(daemon);
  const textOf = (ending) => bundled.outputFiles.find(({ path }) => path.endsWith(ending)).text;
  const text = textOf('.js');
  writeFileSync(join(dist, 'daemon.js'), inAscii(text));
  const metafiles = [bundled.metafile];
  for (const each of [command, library, worker]) metafiles.push((await esbuild.build(each)).metafile);
  metafiles.push(await buildPage(esbuild));
  removeOthers(metafiles.flatMap(({ outputs }) => Object.keys(outputs)));
  writeFileSync(join(dist, 'callers.json'), JSON.stringify(logCallers(text, textOf('.js.map'), inAscii)));
  writeInputs([...new Set(metafiles.flatMap(({ inputs }) => Object.keys(inputs)))], startedAt);
}

/** esbuild leaves regular expressions and comments as they are. */
const inAscii = (text) =>
  text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** What earlier builds left; files of the same content have the same name, so builds at the same time do no harm. */
function removeOthers(outputs) {
  const built = new Set(outputs.map((output) => join(root, output)));
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !built.has(file) && ![compiled, types, pageDirectory].some((kept) => file.startsWith(kept)))
      rmSync(file, { force: true });
  }
  try {
    rmSync(compiled, { recursive: true, force: true });
  } catch {
    // It belongs to whoever ran the command: what is out of date in it is not used.
  }
}

/** The files that went into the bundle, and by its own time when: a later change makes the bundle stale. */
function writeInputs(inputs, startedAt) {
  const file = join(dist, 'inputs.json');
  // The others are made here.
  const files = inputs.filter((input) => !/^(lean-http|late|unused):/.test(input));
  writeFileSync(file, JSON.stringify([...files, 'scripts/build.mjs']));
  utimesSync(file, startedAt, startedAt);
}

await build();
if (process.env.npm_lifecycle_event === 'prepare') stampNodePackages();
