import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { parseCertificateUser } from '../../../kubelet-api/access/certificateUser.ts';

const folder = mkdtempSync(join(tmpdir(), 'users-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Names the OID of UIDs, because `openssl` omits attributes without a name from a subject. */
const CONFIG =
  'oid_section = ids\n[ids]\nkubernetesUid = 1.3.6.1.4.1.57683.2\n[req]\ndistinguished_name = none\n[none]\n';

function certificateOf(subject: string): Buffer {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key'];
  writeFileSync(join(folder, 'config'), CONFIG);
  const args = [
    'req',
    '-config',
    'config',
    '-x509',
    ...key,
    '-utf8',
    '-multivalue-rdn',
    '-subj',
    subject,
    '-out',
    'crt',
  ];
  execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  return new X509Certificate(readFileSync(join(folder, 'crt'))).raw;
}

test('C38: the common name is the user, the organizations are the groups, and the digest is the credential ID', () => {
  const der = certificateOf('/O=system:nodes/O=two words/CN=system:node:node-1');
  expect(parseCertificateUser(der)).toEqual({
    name: 'system:node:node-1',
    groups: ['system:nodes', 'two words'],
    extra: new Map([
      ['authentication.kubernetes.io/credential-id', [`X509SHA256=${createHash('sha256').update(der).digest('hex')}`]],
    ]),
  });
});

test.each([
  ['/CN=first/CN=last', 'last', []],
  ['/O=a+CN=together', 'together', ['a']],
  ['/CN=a\\/O=system:masters', 'a/O=system:masters', []],
  ['/O=a, O=b/CN=Jürgen', 'Jürgen', ['a, O=b']],
])('the certificate subject %s is the user %s', (subject, name, groups) =>
  expect(parseCertificateUser(certificateOf(subject))).toMatchObject({ name, groups }),
);

test('a certificate without a common name has no user', () => {
  expect(parseCertificateUser(certificateOf('/O=system:masters'))).toBeUndefined();
});

test('a UID in the subject is read if there is one', () => {
  expect(parseCertificateUser(certificateOf('/CN=a/kubernetesUid=u-1'))).toMatchObject({ name: 'a', uid: 'u-1' });
  const twice = certificateOf('/CN=a/kubernetesUid=u-1/kubernetesUid=u-2');
  expect(() => parseCertificateUser(twice)).toThrow('more than one');
});
