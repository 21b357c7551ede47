/** Summarizes the lifecycle hook of a container. */
import type { LifecycleHandler } from '../kubernetes/api/schema/probe.ts';

/**
 * Returns a summary such as `exec /bin/drain …`, `http-get :8080/stop` or `sleep 5s`. Command arguments are omitted
 * because they may be secret.
 */
export function handlerText({ exec, httpGet, tcpSocket, sleep }: LifecycleHandler): string {
  if (exec) return execText(exec.command ?? []);
  if (httpGet) return `http-get ${httpGet.host ?? ''}:${httpGet.port}/${(httpGet.path ?? '').replace(/^\//, '')}`;
  if (tcpSocket) return `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port}`;
  return sleep ? `sleep ${sleep.seconds}s` : 'without an action';
}

const execText = ([program = '', ...args]: readonly string[]): string =>
  `exec ${program}${args.length > 0 ? ' …' : ''}`;
