/** Normalizes trust anchors for volumes (`pkg/kubelet/clustertrustbundle` of Kubernetes). */
import { createHash } from 'node:crypto';

/** Pattern of a PEM block. Text between blocks is ignored. */
const PEM_BLOCK = /-----BEGIN ([^\r\n-]*)-----[ \t]*\r?\n([^-]*)-----END ([^\r\n-]*)-----/g;
const BASE64_PATTERN = /^[A-Za-z0-9+/]+={0,2}$/;
const PEM_LINE = /.{1,64}/g;

/**
 * Returns the certificates of several bundles as plain PEM, without duplicates. Their order depends on the salt, so
 * that clients cannot rely on the order. The same salt always results in the same order, so that unchanged files are
 * not rewritten.
 */
export function normalizeAnchors(bundles: readonly string[], salt: string): string {
  const certificates = new Set(bundles.flatMap(parseCertificates));
  const sortableCertificates = [...certificates].map((each) => ({
    each,
    key: createHash('sha256').update(salt).update(each).digest('hex'),
  }));
  return sortableCertificates
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ each }) => toPem(each))
    .join('');
}

/** Returns the valid certificates of a bundle as base64 without line breaks. */
function parseCertificates(bundle: string): string[] {
  return [...bundle.matchAll(PEM_BLOCK)].flatMap(([, beginLabel, body = '', endLabel]) => {
    const base64 = body.replaceAll(/\s/g, '');
    return beginLabel === endLabel && BASE64_PATTERN.test(base64) && base64.length % 4 === 0 ? [base64] : [];
  });
}

const toPem = (base64: string): string =>
  ['-----BEGIN CERTIFICATE-----', ...(base64.match(PEM_LINE) ?? []), '-----END CERTIFICATE-----', ''].join('\n');
