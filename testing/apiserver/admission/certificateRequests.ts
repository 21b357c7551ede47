/**
 * Records the requesting user in a CertificateSigningRequest, and rejects requests that no user may make
 * (`plugin/pkg/admission/certificates` and `noderestriction` of kubernetes).
 */
import { messageOf } from '../../../base/failure.ts';
import { nodeOf } from '../authorization/nodeAuthorizer.ts';
import { readSigningRequest, type SigningRequest } from '../certificates/signingRequest.ts';
import { forbidden } from '../failures/failures.ts';
import { textAt } from '../json.ts';
import { specOf, withFields } from '../registry/strategies/parts.ts';
import type { User } from '../requests/request.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Plugin } from './plugin.ts';

const NODE_SIGNERS: readonly string[] = [
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/kube-apiserver-client-kubelet',
];

export const certificateRequests: Plugin = ({ target: { resource, subresource }, object, before, user }) => {
  const isNew = object !== undefined && before === undefined && subresource === undefined;
  if (resource.name !== 'certificatesigningrequests' || !isNew) return undefined;
  const signer = textAt(specOf(object), 'signerName');
  const problem = problemOf(signer, textAt(specOf(object), 'request'), user);
  if (problem !== undefined) throw forbidden(resource, metadataOf(object).name ?? '', problem);
  return { ...object, spec: withFields(specOf(object), userFields(user)) };
};

const userFields = ({ name, uid, groups, extra }: User) => ({
  username: name,
  uid: uid === undefined || uid === '' ? undefined : uid,
  groups: [...groups],
  extra:
    extra === undefined || extra.size === 0
      ? undefined
      : Object.fromEntries([...extra].map(([key, values]) => [key, [...values]])),
});

function problemOf(signer: string, text: string, user: User): string | undefined {
  const node = nodeOf(user);
  if (node !== undefined && NODE_SIGNERS.includes(signer)) {
    const request = readOrMessage(text);
    if (typeof request === 'string') return `unable to parse csr: ${request}`;
    if (request.commonName !== user.name) return `can only create a node CSR with CN=${user.name}`;
  }
  if (signer !== 'kubernetes.io/kube-apiserver-client') return undefined;
  const request = readOrMessage(text);
  if (typeof request === 'string' || !request.organizations.includes('system:masters')) return undefined;
  return `use of ${signer} signer with system:masters group is not allowed`;
}

function readOrMessage(text: string): SigningRequest | string {
  try {
    return readSigningRequest(text);
  } catch (error) {
    return messageOf(error);
  }
}
