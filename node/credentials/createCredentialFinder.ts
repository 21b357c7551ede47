/** Finds credentials for registries in the files of this host and with credential plugins. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { credentialPlugins } from '../../actors/images/credentialPlugins.ts';
import { type FindCredentials, nodeCredentials } from '../../actors/services/images/nodeCredentials.ts';
import { systemClock } from '../../base/time/clock.ts';
import { runProgram } from '../../host/program.ts';
import type { ProviderObserver } from '../../kubelet-api/metrics/requests/providerMetrics.ts';
import type { CredentialProvider } from '../../kubernetes/images/credentialProvider.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { readProviderConfig } from './credentialProviders.ts';

/**
 * The directories and plugins that provide credentials. `workingDirectory` and `homeDirectory` default to those of this
 * process.
 */
interface CredentialPaths extends Pick<NodeConfig, 'rootDirectory' | 'credentialProviders'> {
  readonly workingDirectory?: string;
  readonly homeDirectory?: string;
}

interface CredentialFinderDependencies {
  /** Logs a problem. The message must not contain credentials. */
  readonly logWarning: (message: string, about: Readonly<Record<string, string>>) => void;
  readonly observer?: ProviderObserver | undefined;
  /** Aborting this signal kills the running plugins. */
  readonly signal: AbortSignal;
}

/** Creates a function that finds credentials. Rejects if the configuration of the plugins is invalid. */
export async function createCredentialFinder(
  {
    rootDirectory: rootDir,
    credentialProviders: providerPaths,
    workingDirectory: workingDir = process.cwd(),
    homeDirectory: homeDir = homedir(),
  }: CredentialPaths,
  { logWarning, signal, observer }: CredentialFinderDependencies,
): Promise<FindCredentials> {
  const onUnusable = (file: string, why: string) =>
    logWarning(`${file}: registry credentials not read: ${why}`, { file });
  const findInFiles = nodeCredentials({ rootDir, workingDir, homeDir, onUnusable });
  if (providerPaths === undefined) return findInFiles;
  const { providers, hash } = await readProviderConfig(providerPaths);
  observer?.configured(hash);
  const findWithPlugins = credentialPlugins({
    providers,
    run: timePlugin(runPlugin(providerPaths.binDir, signal), observer),
    clock: systemClock,
    onProblem: (provider, why) =>
      logWarning(`credential provider ${provider} returned no credentials: ${why}`, { provider }),
  });
  return async (request) => (await Promise.all([findInFiles(request), findWithPlugins(request)])).flat();
}

type Run = Parameters<typeof credentialPlugins>[0]['run'];

/** Wraps a function that runs plugins, so that each run is reported with its duration. */
const timePlugin =
  (run: Run, observer: Pick<ProviderObserver, 'ran'> | undefined): Run =>
  async (provider, request) => {
    const startedAt = systemClock.monotonic();
    const reportRun = (hasFailed: boolean) =>
      observer?.ran({ provider: provider.name, ms: systemClock.monotonic() - startedAt, hasFailed });
    try {
      const output = await run(provider, request);
      reportRun(false);
      return output;
    } catch (error) {
      reportRun(true);
      throw error;
    }
  };

const PLUGIN_TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 2 ** 20;

/** Runs a plugin with a minimal environment, and kills its child processes when it exits. */
const runPlugin =
  (binDir: string, signal: AbortSignal) =>
  ({ name, args, env }: CredentialProvider, input: string): Promise<string> =>
    runProgram(join(binDir, name), args, {
      signal,
      input,
      timeoutMs: PLUGIN_TIMEOUT_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      killsChildren: true,
      environment: Object.fromEntries(env.map((each) => [each.name, each.value])),
    });
