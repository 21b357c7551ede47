/**
 * Creates CertificateSigningRequests on an API server (`RequestCertificate` in `util/certificate/csr/csr.go` of
 * client-go).
 */
import { createPublicKey } from 'node:crypto';
import { NodeFailure } from '../../../base/failure.ts';
import type { CallOptions, KubeClient } from '../../../kubeclient/client.ts';
import { isConflict } from '../../../kubeclient/kubeError.ts';
import { CERTIFICATE_SIGNING_REQUEST_TYPE } from '../../../kubeclient/paths.ts';
import { type NamedObject, readNamedObject } from '../nodeObjects.ts';
import { SIGNING_REQUESTS } from './awaitSigned.ts';
import type { RequestKey } from './requestKey.ts';
import type { RequestedCertificate } from './signingRequest.ts';

interface RequestTemplate {
  readonly client: KubeClient;
  readonly certificate: RequestedCertificate;
  readonly signerName: string;
  readonly usages: readonly string[];
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
}

/** The created request and its private key in PEM. The key is secret. */
interface CreatedRequest {
  readonly csr: NamedObject;
  readonly key: string;
}

/** Creates a certificate request for a new key. The API server generates the name of the request. */
export async function createRequest(
  { client, certificate, signerName, usages }: RequestTemplate,
  options: CallOptions,
): Promise<CreatedRequest> {
  const { createSigningRequest } = await import('./signingRequest.ts');
  const { request, key } = createSigningRequest(certificate);
  const spec = { signerName, usages, request: encodeBase64(request) };
  return { csr: await submitRequest(client, { generateName: 'csr-' }, spec, options), key };
}

interface NamedOptions extends CallOptions {
  /** Called if the key file does not contain a usable key. */
  readonly onInvalidKey: (failure: NodeFailure) => void;
}

/**
 * Creates a request for the persisted key under the name derived from it, or resumes an existing request with that
 * name, regardless of its state. If the existing request does not match, the key is discarded, so the next attempt uses
 * a new key and name. The kubelet would retry with the same name until the request is deleted.
 */
export async function createNamedRequest(
  template: RequestTemplate,
  requestKey: RequestKey,
  { onInvalidKey, ...options }: NamedOptions,
): Promise<CreatedRequest> {
  const { client, certificate, signerName, now } = template;
  const privateKey = await requestKey.readOrCreate(onInvalidKey);
  const usages = [...template.usages, ...(privateKey.asymmetricKeyType === 'rsa' ? ['key encipherment'] : [])];
  const [{ createSigningRequest }, { digestedName, findMismatch }] = await Promise.all([
    import('./signingRequest.ts'),
    import('./namedRequest.ts'),
  ]);
  const { request, key } = createSigningRequest(certificate, privateKey);
  const namedRequest = { certificate, signerName, usages, publicKey: createPublicKey(privateKey) };
  const name = digestedName(namedRequest);
  try {
    return {
      csr: await submitRequest(client, { name }, { signerName, usages, request: encodeBase64(request) }, options),
      key,
    };
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
  const path = `${SIGNING_REQUESTS}/${name}`;
  const existing = await client.get(path, { ...options, type: CERTIFICATE_SIGNING_REQUEST_TYPE });
  const mismatch = findMismatch(namedRequest, existing, now());
  if (mismatch === undefined) return { csr: readNamedObject(existing, `GET ${path}`), key };
  await requestKey.discard();
  throw new NodeFailure(
    'CertificateNotIssued',
    `certificate request ${name} already exists and does not match: ${mismatch}; the next attempt uses a new key`,
  );
}

async function submitRequest(
  client: KubeClient,
  metadata: object,
  spec: object,
  options: CallOptions,
): Promise<NamedObject> {
  const requestObject = { ...CERTIFICATE_SIGNING_REQUEST_TYPE, metadata, spec };
  return readNamedObject(await client.create(SIGNING_REQUESTS, requestObject, options), `POST ${SIGNING_REQUESTS}`);
}

const encodeBase64 = (text: string): string => Buffer.from(text).toString('base64');
