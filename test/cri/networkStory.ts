/** What a CRI runtime answers while its network is not ready, and afterwards. */
import { NamespaceMode, PodSandboxConfig, PodSandboxState } from '../../cri/generated/runtime.ts';
import { outcomeOf, type RawCalls } from './rawCalls.ts';

interface NetworkStory {
  readonly call: RawCalls['call'];
  /** Makes the network not ready, or ready again; resolves when the runtime says so itself. */
  readonly setNetwork: (ready: boolean) => Promise<void>;
}

/** What it sees: a failed sandbox stays with its name, and nothing with an address can be taken down before it is back. */
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

/** Plays it, with one sandbox from before, one on the host's network, and one that is tried in vain. */
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
  const seen: Record<string, string> = { before: await run('before') };
  await setNetwork(false);
  seen.reason = await condition();
  seen.run = await run('pod');
  seen.shown = await shown('pod');
  seen.runOnHost = await run('host', NamespaceMode.NODE);
  seen.stop = await stop('before');
  seen.stopped = await shown('before');
  seen.remove = await remove('before');
  seen.removeOnHost = await remove('host');
  await setNetwork(true);
  seen.reasonAfter = await condition();
  seen.removeAfter = await remove('before');
  seen.runAfter = await run('pod');
  seen.removeFailed = await remove('pod');
  seen.runAtLast = await run('pod');
  seen.shownAtLast = await shown('pod');
  return seen;
}
