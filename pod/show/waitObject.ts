/** Which hook a container waits for: the chart says that it is one, the pod's spec which. */
import { containersOf } from '../api/containers.ts';
import type { LifecycleHandler } from '../api/schema/probe.ts';
import type { ContainerView, PodView } from './view.ts';

/** The hook that holds up a container. */
function hookOf({ tags }: ContainerView): 'postStart' | 'preStop' | undefined {
  if (tags.includes('runningPostStart')) return 'postStart';
  return tags.includes('runningPreStop') ? 'preStop' : undefined;
}

/** `exec /bin/drain --all`, `http-get :8080/stop`, `sleep 5s`. */
function handlerText({ exec, httpGet, tcpSocket, sleep }: LifecycleHandler): string {
  if (exec) return `exec ${(exec.command ?? []).join(' ')}`;
  if (httpGet) return `http-get ${httpGet.host ?? ''}:${httpGet.port}/${(httpGet.path ?? '').replace(/^\//, '')}`;
  if (tcpSocket) return `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port}`;
  return sleep ? `sleep ${sleep.seconds}s` : 'without an action';
}

function ofContainer({ spec }: PodView['pod'], view: ContainerView): ContainerView {
  const own = containersOf(spec).find(({ container }) => container.name === view.name)?.container;
  const hook = hookOf(view);
  const handler = hook && own?.lifecycle?.[hook];
  if (!handler || view.waitingFor === undefined) return view;
  return { ...view, waitingFor: `${view.waitingFor} (${handlerText(handler)})` };
}

/** The view of a pod whose containers say what the hook does that they wait for. */
export const withWaitObjects = (view: PodView): PodView => ({
  ...view,
  containers: view.containers.map((container) => ofContainer(view.pod, container)),
});
