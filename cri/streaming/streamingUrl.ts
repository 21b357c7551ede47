import { NodeFailure } from '../../base/failure.ts';
import { isLoopbackIp } from '../../base/ipAddress.ts';

/** Whether the host of a URL is a loopback address. IPv6 addresses are in brackets. */
const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || isLoopbackIp(hostname.replace(/^\[(.*)\]$/, '$1'));

/**
 * Parses the URL of a runtime's streaming server. The server is protected only because other hosts cannot reach it, so
 * addresses other than loopback addresses are refused. TLS is refused as well, because the certificate would be
 * self-signed.
 */
export function parseStreamingUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw createUnusableUrlFailure(text, 'it is not a URL');
  if (url.protocol !== 'http:')
    throw createUnusableUrlFailure(text, `its scheme is ${url.protocol.slice(0, -1)}, expected http`);
  if (!isLoopback(url.hostname))
    throw createUnusableUrlFailure(text, 'it is not at a loopback address, such as 127.0.0.1');
  return url;
}

const createUnusableUrlFailure = (url: string, reason: string): NodeFailure =>
  new NodeFailure('StreamFailed', `the runtime serves this at ${url}, which cannot be used: ${reason}`);
