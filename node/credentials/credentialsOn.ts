/** What this host has of credentials for registries: its files, then its plugins. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { credentialPlugins } from '../../actors/images/credentialPlugins.ts';
import { type FindCredentials, nodeCredentials } from '../../actors/services/images/nodeCredentials.ts';
import { systemClock } from '../../base/clock.ts';
import { runProgram } from '../../host/program.ts';
import type { ProviderObserver } from '../../kubelet-api/metrics/requests/providerMetrics.ts';
import type { CredentialProvider } from '../../kubernetes/images/credentialProvider.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import { readProviderConfig } from './credentialProviders.ts';

/** Where credentials are, by default in the working and home directories of this process. */
interface CredentialPlaces extends Pick<NodeConfig, 'rootDirectory' | 'credentialProviders'> {
  readonly workingDirectory?: string;
  readonly homeDirectory?: string;
}

interface Surroundings {
  /** Told of what cannot be used, never with what is in it. */
  readonly warn: (message: string, about: Readonly<Record<string, string>>) => void;
  readonly observer?: ProviderObserver | undefined;
  /** Ends the plugins that run. */
  readonly signal: AbortSignal;
}

/** Finds them; rejects where what is said of plugins is wrong. */
export async function credentialsOn(
  {
    rootDirectory: rootDir,
    credentialProviders: places,
    workingDirectory: workingDir = process.cwd(),
    homeDirectory: homeDir = homedir(),
  }: CredentialPlaces,
  { warn, signal, observer }: Surroundings,
): Promise<FindCredentials> {
  const onUnusable = (file: string, why: string) => warn(`${file}: registry credentials not read: ${why}`, { file });
  const inFiles = nodeCredentials({ rootDir, workingDir, homeDir, onUnusable });
  if (places === undefined) return inFiles;
  const { providers, hash } = await readProviderConfig(places);
  observer?.configured(hash);
  const fromPlugins = credentialPlugins({
    providers,
    run: timed(runPlugin(places.binDir, signal), observer),
    clock: systemClock,
    onProblem: (provider, why) => warn(`credential provider ${provider} gave no credentials: ${why}`, { provider }),
  });
  return async (asked) => (await Promise.all([inFiles(asked), fromPlugins(asked)])).flat();
}

type Run = Parameters<typeof credentialPlugins>[0]['run'];

/** Reports each run with its duration. */
const timed =
  (run: Run, observer: Pick<ProviderObserver, 'ran'> | undefined): Run =>
  async (provider, request) => {
    const startedAt = systemClock.monotonic();
    const report = (hasFailed: boolean) =>
      observer?.ran({ provider: provider.name, ms: systemClock.monotonic() - startedAt, hasFailed });
    try {
      const output = await run(provider, request);
      report(false);
      return output;
    } catch (error) {
      report(true);
      throw error;
    }
  };

const LIMIT_MS = 60_000;
const MOST_OUTPUT = 2 ** 20;

/** Runs a plugin: what it has started ends with it, and of the agent's environment it sees only where programs are. */
const runPlugin =
  (binDir: string, signal: AbortSignal) =>
  ({ name, args, env }: CredentialProvider, input: string): Promise<string> =>
    runProgram(join(binDir, name), args, {
      signal,
      input,
      timeoutMs: LIMIT_MS,
      maxOutputBytes: MOST_OUTPUT,
      killsChildren: true,
      environment: Object.fromEntries(env.map((each) => [each.name, each.value])),
    });
