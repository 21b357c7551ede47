import { NodeFailure } from '../../base/failure.ts';
import { isLoopbackIp } from '../../base/ipAddress.ts';

/** Whether only this host reaches the host of a URL, in which an IPv6 address has brackets. */
const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || isLoopbackIp(hostname.replace(/^\[(.*)\]$/, '$1'));

/**
 * The URL at which a runtime serves a command, a container's process or its ports. What it gives has no other protection
 * than that nobody else reaches it: so a server that listens anywhere else is not used, nor one with TLS, as it has a
 * certificate of its own making.
 */
export function streamingUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw unusable(text, 'it is not a URL');
  if (url.protocol !== 'http:') throw unusable(text, `its scheme is ${url.protocol.slice(0, -1)}, expected http`);
  if (!isLoopback(url.hostname)) throw unusable(text, 'it is not at a loopback address, such as 127.0.0.1');
  return url;
}

const unusable = (url: string, why: string): NodeFailure =>
  new NodeFailure('StreamFailed', `the runtime serves this at ${url}, which cannot be used: ${why}`);
