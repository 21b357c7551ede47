/** What exactly an actor waits for: the chart says that it is an image or a hook, the pod's spec which. */
import { containersOf } from '../api/containers.ts';
import type { LifecycleHandler } from '../api/schema/probe.ts';
import type { ContainerView, PodView, VolumeView } from './view.ts';

/** The hook that holds up a container, by the states that wait for it. */
const HOOKS = new Map<string, 'postStart' | 'preStop'>([
  ['runningPostStart', 'postStart'],
  ['stopping.runningPreStop.bounded', 'preStop'],
  ['stopping.runningPreStop.unbounded', 'preStop'],
]);

/** `exec /bin/drain --all`, `http-get :8080/stop`, `sleep 5s`. */
function handlerText({ exec, httpGet, tcpSocket, sleep }: LifecycleHandler): string {
  if (exec) return `exec ${(exec.command ?? []).join(' ')}`;
  if (httpGet) return `http-get ${httpGet.host ?? ''}:${httpGet.port}/${(httpGet.path ?? '').replace(/^\//, '')}`;
  if (tcpSocket) return `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port}`;
  return sleep ? `sleep ${sleep.seconds}s` : 'without an action';
}

function ofContainer({ spec }: PodView['pod'], view: ContainerView): ContainerView {
  const own = containersOf(spec).find(({ container }) => container.name === view.name)?.container;
  const named = withImage(view, own?.image);
  const hook = HOOKS.get(view.state);
  const handler = hook && own?.lifecycle?.[hook];
  if (!handler || named.waitingFor === undefined) return named;
  return { ...named, waitingFor: `${named.waitingFor} (${handlerText(handler)})` };
}

function ofVolume({ spec }: PodView['pod'], view: VolumeView): VolumeView {
  return withImage(view, spec.volumes?.find(({ name }) => name === view.name)?.image?.reference);
}

function withImage<V extends ContainerView | VolumeView>(view: V, image = ''): V {
  if (image === '' || !view.state.startsWith('pulling.') || view.waitingFor === undefined) return view;
  return { ...view, waitingFor: view.waitingFor.replace('its image', () => `image ${image}`) };
}

/** The view of a pod whose containers and volumes say which image they wait for, and what the hook does. */
export const withWaitObjects = (view: PodView): PodView => ({
  ...view,
  volumes: view.volumes.map((volume) => ofVolume(view.pod, volume)),
  containers: view.containers.map((container) => ofContainer(view.pod, container)),
});
