/** What a hook of a container does, in a few words. */
import type { LifecycleHandler } from '../kubernetes/api/schema/probe.ts';

/** `exec /bin/drain …`, `http-get :8080/stop`, `sleep 5s`: what is given to a command may be secret. */
export function handlerText({ exec, httpGet, tcpSocket, sleep }: LifecycleHandler): string {
  if (exec) return execText(exec.command ?? []);
  if (httpGet) return `http-get ${httpGet.host ?? ''}:${httpGet.port}/${(httpGet.path ?? '').replace(/^\//, '')}`;
  if (tcpSocket) return `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port}`;
  return sleep ? `sleep ${sleep.seconds}s` : 'without an action';
}

const execText = ([program = '', ...args]: readonly string[]): string =>
  `exec ${program}${args.length > 0 ? ' …' : ''}`;
