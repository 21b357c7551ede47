/**
 * Counts the work of the agent, i.e. how often each of its functions, and each block in a function, runs. V8 does the
 * counting, so equal runs have equal counts on a host with any load. The work inside a built-in function, e.g. of
 * copying an array, is not counted, but the functions that it calls are.
 */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const PACKAGE_URL = pathToFileURL(join(import.meta.dirname, '../../..')).href;
/** Code that is not part of an agent on a host: the simulation, the API server for tests and the simulated runtime. */
const SIMULATED = /\/(testing|test|simulated)\//;
/** The query in the URLs of modules that the API server loads separately, because the agent uses them as well. */
const SERVER_QUERY = '?server';

export interface FunctionWork {
  /** Identifies the function across all results of `take`. */
  readonly id: string;
  readonly name: string;
  /** The file, line and name of the function, e.g. `base/values/lookUp.ts:9 lookUp`. */
  readonly location: string;
  /** Number of times that its blocks have run. */
  readonly count: number;
}

/** The work between two calls of `take`, by function ID. */
export type Work = ReadonlyMap<string, FunctionWork>;

export class WorkCounter {
  readonly #session: Session;
  readonly #isCounted: (url: string) => boolean;
  readonly #locations = new Map<string, string>();

  private constructor(session: Session, isCounted: (url: string) => boolean) {
    this.#session = session;
    this.#isCounted = isCounted;
  }

  /**
   * Starts counting in the modules whose URLs `isCounted` accepts, by default those of the agent. Blocks are counted
   * only in modules that are loaded afterwards, because V8 adds the counters when it compiles.
   */
  static async start(isCounted: (url: string) => boolean = isAgentModule): Promise<WorkCounter> {
    loadServerSeparately();
    disableOptimization();
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    return new WorkCounter(session, isCounted);
  }

  /** Returns the work since the last call, or since the start. */
  async take(): Promise<Work> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const work = new Map<string, FunctionWork>();
    for (const { url, functions } of result) {
      if (!this.#isCounted(url)) continue;
      for (const { functionName: name, ranges } of functions) {
        const count = ranges.reduce((sum, range) => sum + range.count, 0);
        const offset = ranges[0]?.startOffset ?? 0;
        const id = `${url}:${offset}`;
        if (count > 0) work.set(id, { id, name, location: this.#locationOf(id, { url, name, offset }), count });
      }
    }
    return work;
  }

  #locationOf(id: string, place: { readonly url: string; readonly name: string; readonly offset: number }): string {
    const location = this.#locations.get(id) ?? describeLocation(place);
    this.#locations.set(id, location);
    return location;
  }
}

/** Disables the compilers that inline functions, because V8 stops counting the calls of a function once it is inlined. */
function disableOptimization(): void {
  setFlagsFromString('--no-opt');
  setFlagsFromString('--no-maglev');
}

/**
 * Makes the API server for tests load its own instances of the modules that it imports, so that its work is not
 * counted.
 */
function loadServerSeparately(): void {
  registerHooks({
    resolve: (specifier, context, nextResolve) => {
      const resolved = nextResolve(specifier, context);
      const { parentURL = '' } = context;
      const isForServer = parentURL.startsWith(`${PACKAGE_URL}/testing/apiserver/`) || parentURL.endsWith(SERVER_QUERY);
      const isShared =
        resolved.url.startsWith(`${PACKAGE_URL}/`) && !resolved.url.startsWith(`${PACKAGE_URL}/testing/`);
      return isForServer && isShared ? { ...resolved, url: resolved.url + SERVER_QUERY } : resolved;
    },
  });
}

const isAgentModule = (url: string): boolean =>
  url.startsWith(`${PACKAGE_URL}/`) && !SIMULATED.test(url.slice(PACKAGE_URL.length)) && !url.endsWith(SERVER_QUERY);

function describeLocation({
  url,
  name,
  offset,
}: {
  readonly url: string;
  readonly name: string;
  readonly offset: number;
}) {
  // Removing types does not move the code, so the offset is also that in the source file.
  const line = readFileSync(fileURLToPath(url), 'utf8').slice(0, offset).split('\n').length;
  return `${url.slice(PACKAGE_URL.length + 1)}:${line} ${name || '(anonymous)'}`;
}
