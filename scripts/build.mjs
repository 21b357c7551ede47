/**
 * Bundles cli/main.ts and the library (index.ts, testing.ts) into dist/. Bundles use less memory and start faster than
 * separate modules. Lazily imported modules become separate files. Also runs as npm's `prepare` script.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { digestOfSources } from '../node/start/observation/machinesDigest.ts';
import { buildPage, pageDirectory } from './bundle/buildPage.mjs';
import { logCallers } from './bundle/logCallers.ts';
import { withoutDescriptions } from './bundle/withoutDescriptions.ts';
import { stampNodePackages } from './setup/nodePackages.mjs';
import { printProgress, root } from './setup/places.mjs';

const distDirectory = join(root, 'dist');
const mainFile = join(root, 'cli/main.ts');
/** Directory of the compile cache that cli/bin.mjs uses. */
const compileCacheDirectory = join(distDirectory, 'compiled');
/** Output directory of scripts/types.mjs. */
const typesDirectory = join(distDirectory, 'types');

/**
 * esbuild plugin that loads Node's HTTP modules with a function call instead of an `import`. An `import` reads every
 * export, and three of these exports make Node load undici, which costs 13 MiB and 70 ms.
 */
const leanHttpPlugin = {
  name: 'lean-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:https?$/ }, ({ path }) => ({ path, namespace: 'lean-http' }));
    onLoad({ filter: /^/, namespace: 'lean-http' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

/**
 * esbuild plugin that defers the loading of Node modules that gRPC imports at startup until their first use, which
 * saves 2 MiB. Also stubs two unused packages: gRPC's loader of .proto files and the worker threads of pino's
 * transports.
 */
const deferredModulesPlugin = {
  name: 'deferred-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?(zlib|dns)$/ }, ({ path }) => ({
      path: path.replace('node:', ''),
      namespace: 'late',
    }));
    onLoad({ filter: /^/, namespace: 'late' }, ({ path }) => ({
      // Define getters for the known names, because named imports from CommonJS require own properties.
      contents: `for (const name of ${JSON.stringify(Object.keys(process.getBuiltinModule(path)))})
        Object.defineProperty(exports, name, { enumerable: true, get: () => process.getBuiltinModule('${path}')[name] });`,
    }));
    onResolve({ filter: /^(@grpc\/proto-loader|thread-stream)$/ }, ({ path }) => ({ path, namespace: 'unused' }));
    onLoad({ filter: /^/, namespace: 'unused' }, ({ path }) => ({
      contents: `module.exports = class { constructor() { throw new Error('${path} is no part of this bundle'); } };`,
    }));
  },
};

/** Modules of the daemon that cli/main.ts imports lazily. */
const DAEMON_MODULES = ['run.ts', 'up.ts', 'privateRuntime.ts', 'startNode.ts'];

/**
 * esbuild plugin that excludes the modules of other commands from the daemon's bundle, because V8 retains the bundle's
 * whole text in memory. Fails if cli/main.ts does not import one of the daemon's modules, e.g. because the module was
 * renamed.
 */
const daemonOnlyPlugin = {
  name: 'no-other-commands',
  setup({ onResolve, onLoad, onEnd }) {
    const missingModules = new Set(DAEMON_MODULES);
    onResolve({ filter: /\.ts$/ }, ({ path, importer, kind }) => {
      if (kind !== 'dynamic-import' || importer !== mainFile) return undefined;
      const name = basename(path);
      missingModules.delete(name);
      return DAEMON_MODULES.includes(name) ? undefined : { path, namespace: 'other-command' };
    });
    onEnd(() => {
      if (missingModules.size > 0) throw new Error(`cli/main.ts does not import ${[...missingModules].join(', ')}`);
    });
    onLoad({ filter: /^/, namespace: 'other-command' }, ({ path }) => ({
      contents: `throw new Error('${path} is no part of this bundle');`,
    }));
  },
};

/** Defines `require`, which CommonJS packages call and an ES module does not provide. */
const requireBanner = {
  js: "import { createRequire as stateletRequire } from 'node:module';\nconst require = stateletRequire(import.meta.url);",
};

const commonOptions = {
  absWorkingDir: root,
  outdir: distDirectory,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  sourcemap: true,
  metafile: true,
  define: { STATELET_MACHINES: JSON.stringify(digestOfSources(root)) },
  plugins: [leanHttpPlugin, deferredModulesPlugin],
  logLevel: 'warning',
};

const commandOptions = {
  ...commonOptions,
  entryPoints: { statelet: mainFile },
  chunkNames: 'parts/[name]-[hash]',
  splitting: true,
  banner: requireBanner,
};

/**
 * Options for the bundle that cli/compileCache.mjs loads. The bundle is a single file without imports that contains one
 * function.
 */
const daemonOptions = {
  ...commonOptions,
  entryPoints: { daemon: mainFile },
  outExtension: {},
  format: 'cjs',
  banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
  footer: { js: '})' },
  // The source map is not part of the package, because only `logCallers` reads it, at build time.
  sourcemap: 'external',
  // Minify whitespace, because V8 retains the bundle's whole text in memory. Do not minify names, because stack traces
  // need them.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  define: { ...commonOptions.define, 'import.meta.dirname': '__dirname' },
  plugins: [daemonOnlyPlugin, withoutDescriptions, ...commonOptions.plugins],
  write: false,
};

/**
 * Options for the library. Packages are external, so that programs that use the library have a single copy of xstate.
 */
const libraryOptions = {
  ...commonOptions,
  entryPoints: { index: join(root, 'index.ts'), testing: join(root, 'testing.ts') },
  packages: 'external',
  chunkNames: 'parts/[name]-[hash]',
  splitting: true,
};

/** Options for worker threads and child processes, each of which has its own entry point. */
const workerOptions = {
  ...commonOptions,
  entryPoints: {
    manifestWorker: join(root, 'actors/sources/manifest/manifestWorker.ts'),
    volumeChild: join(root, 'volume/volumeChild.ts'),
    usageChild: join(root, 'stats/pods/usageChild.ts'),
    pastWorker: join(root, 'inspect/past/worker/pastWorker.ts'),
  },
  banner: requireBanner,
  sourcemap: false,
};

async function buildAll() {
  if (!existsSync(mainFile)) return printProgress('cli/main.ts not found: nothing to bundle');
  const esbuild = await import('esbuild').catch(() => undefined);
  if (esbuild === undefined)
    return printProgress('development packages are not installed: not bundling, commands run from the sources');
  const startedAt = new Date();
  mkdirSync(distDirectory, { recursive: true });
  const bundleResult = await esbuild.build(daemonOptions);
  const outputText = (ending) => bundleResult.outputFiles.find(({ path }) => path.endsWith(ending)).text;
  const bundleText = outputText('.js');
  writeFileSync(join(distDirectory, 'daemon.js'), escapeNonAscii(bundleText));
  const metafiles = [bundleResult.metafile];
  for (const each of [commandOptions, libraryOptions, workerOptions])
    metafiles.push((await esbuild.build(each)).metafile);
  metafiles.push(await buildPage(esbuild));
  removeStaleFiles(metafiles.flatMap(({ outputs }) => Object.keys(outputs)));
  writeFileSync(
    join(distDirectory, 'callers.json'),
    JSON.stringify(logCallers(bundleText, outputText('.js.map'), escapeNonAscii)),
  );
  writeInputs([...new Set(metafiles.flatMap(({ inputs }) => Object.keys(inputs)))], startedAt);
}

/** Escapes non-ASCII characters, which esbuild leaves in regular expressions and comments. */
const escapeNonAscii = (text) =>
  text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Removes files of earlier builds. Concurrent builds are safe, because file names contain hashes of the content. */
function removeStaleFiles(outputs) {
  const builtPaths = new Set(outputs.map((output) => join(root, output)));
  for (const entry of readdirSync(distDirectory, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (
      entry.isFile() &&
      !builtPaths.has(file) &&
      ![compileCacheDirectory, typesDirectory, pageDirectory].some((retained) => file.startsWith(retained))
    )
      rmSync(file, { force: true });
  }
  try {
    rmSync(compileCacheDirectory, { recursive: true, force: true });
  } catch {
    // Ignore the error, because the files may belong to another user and stale code is never loaded.
  }
}

/**
 * Writes the list of the bundled files. Sets the list's modification time to the start of the build, so that `bundle`
 * can compare this time with the modification times of the files.
 */
function writeInputs(inputs, startedAt) {
  const file = join(distDirectory, 'inputs.json');
  // Exclude the inputs that are generated by plugins.
  const inputFiles = inputs.filter((input) => !/^(lean-http|late|unused):/.test(input));
  writeFileSync(file, JSON.stringify([...inputFiles, 'scripts/build.mjs']));
  utimesSync(file, startedAt, startedAt);
}

await buildAll();
if (process.env.npm_lifecycle_event === 'prepare') stampNodePackages();
