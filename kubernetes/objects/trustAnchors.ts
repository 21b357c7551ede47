/** Trust anchors as volumes show them (`pkg/kubelet/clustertrustbundle` of kubernetes). */
import { createHash } from 'node:crypto';

/** A block; what stands between blocks is nobody's. */
const BLOCK = /-----BEGIN ([^\r\n-]*)-----[ \t]*\r?\n([^-]*)-----END ([^\r\n-]*)-----/g;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const LINE = /.{1,64}/g;

/**
 * All certificates of some bundles, each once, as PEM without anything around it. Their order means nothing: it goes by the
 * salt, so that nobody comes to rely on it, and is the same each time, so that nothing is written anew that has not changed.
 */
export function normalizedAnchors(bundles: readonly string[], salt: string): string {
  const all = new Set(bundles.flatMap(certificatesIn));
  const keyed = [...all].map((each) => ({ each, key: createHash('sha256').update(salt).update(each).digest('hex') }));
  return keyed
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ each }) => asPem(each))
    .join('');
}

/** In base64, without its lines. */
function certificatesIn(bundle: string): string[] {
  return [...bundle.matchAll(BLOCK)].flatMap(([, begun, body = '', ended]) => {
    const text = body.replaceAll(/\s/g, '');
    return begun === ended && BASE64.test(text) && text.length % 4 === 0 ? [text] : [];
  });
}

const asPem = (text: string): string =>
  ['-----BEGIN CERTIFICATE-----', ...(text.match(LINE) ?? []), '-----END CERTIFICATE-----', ''].join('\n');
