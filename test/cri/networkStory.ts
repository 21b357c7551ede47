/** Responses of a CRI runtime while its network is not ready, and afterwards. */
import { NamespaceMode, PodSandboxConfig, PodSandboxState } from '../../cri/generated/runtime.ts';
import { outcomeOf, type RawCalls } from './rawCalls.ts';

interface NetworkStory {
  readonly call: RawCalls['call'];
  /** Makes the network ready or not ready. Resolves when the runtime reports the new state. */
  readonly setNetwork: (ready: boolean) => Promise<void>;
}

/**
 * Expected observations: a failed sandbox keeps its name, and a sandbox with an address cannot be stopped until the
 * network is back.
 */
export const networkStoryExpected: Readonly<Record<string, string>> = {
  before: 'OK',
  reason: 'NetworkPluginNotReady',
  run: 'UNKNOWN',
  shown: 'not ready',
  runOnHost: 'OK',
  stop: 'UNKNOWN',
  stopped: 'not ready',
  remove: 'UNKNOWN',
  removeOnHost: 'OK',
  reasonAfter: '',
  removeAfter: 'OK',
  runAfter: 'UNKNOWN',
  removeFailed: 'OK',
  runAtLast: 'OK',
  shownAtLast: 'ready',
};

/** Plays the story with a sandbox created earlier, one on the host network, and one whose creation fails. */
export async function playNetworkStory({ call, setNetwork }: NetworkStory): Promise<Record<string, string>> {
  const run = (name: string, network: NamespaceMode = NamespaceMode.POD) => {
    const metadata = { name, namespace: 'network', uid: `uid-${name}` };
    const linux = { securityContext: { namespaceOptions: { network } } };
    const config = PodSandboxConfig.fromPartial({ metadata, linux });
    return outcomeOf(call('runPodSandbox', { config, runtimeHandler: '' }));
  };
  const shown = async (name: string) => {
    const { items } = await call('listPodSandbox', { filter: undefined });
    const found = items.filter(({ metadata }) => metadata?.name === name);
    return found.map(({ state }) => (state === PodSandboxState.SANDBOX_READY ? 'ready' : 'not ready')).join(' ');
  };
  const idOf = async (name: string) => {
    const { items } = await call('listPodSandbox', { filter: undefined });
    return items.find(({ metadata }) => metadata?.name === name)?.id ?? 'none';
  };
  const stop = async (name: string) => outcomeOf(call('stopPodSandbox', { podSandboxId: await idOf(name) }));
  const remove = async (name: string) => outcomeOf(call('removePodSandbox', { podSandboxId: await idOf(name) }));
  const condition = async () => {
    const answer = await call('status', { verbose: false });
    return answer.status?.conditions.find(({ type }) => type === 'NetworkReady')?.reason ?? '';
  };
  const observations: Record<string, string> = { before: await run('before') };
  await setNetwork(false);
  observations.reason = await condition();
  observations.run = await run('pod');
  observations.shown = await shown('pod');
  observations.runOnHost = await run('host', NamespaceMode.NODE);
  observations.stop = await stop('before');
  observations.stopped = await shown('before');
  observations.remove = await remove('before');
  observations.removeOnHost = await remove('host');
  await setNetwork(true);
  observations.reasonAfter = await condition();
  observations.removeAfter = await remove('before');
  observations.runAfter = await run('pod');
  observations.removeFailed = await remove('pod');
  observations.runAtLast = await run('pod');
  observations.shownAtLast = await shown('pod');
  return observations;
}
