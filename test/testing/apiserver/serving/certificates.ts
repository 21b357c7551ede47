/** A certificate authority for servers and clients in tests. It uses `openssl` from the Debian package of that name. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KeyPair {
  /** PEM. */
  readonly key: string;
  readonly cert: string;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'] as const;
const EXTENSIONS = 'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n';

export class Authority {
  readonly #folder = mkdtempSync(join(tmpdir(), 'authority-'));

  constructor() {
    this.#openssl('req', '-x509', ...NEW_KEY, '-subj', '/CN=test authority', '-keyout', 'ca.key', '-out', 'ca.crt');
    writeFileSync(join(this.#folder, 'extensions'), EXTENSIONS);
  }

  /** The CA certificate in PEM. */
  get cert(): string {
    return this.#read('ca.crt');
  }

  /** The path of the CA certificate. */
  get certFile(): string {
    return join(this.#folder, 'ca.crt');
  }

  /** Issues a certificate for a server on loopback or for a client. The subject has the form `/O=group/CN=name`. */
  issue(subject: string): KeyPair {
    this.#openssl('req', ...NEW_KEY, '-subj', subject, '-keyout', 'own.key', '-out', 'own.csr');
    this.#openssl(
      'x509',
      '-req',
      '-in',
      'own.csr',
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-extfile',
      'extensions',
      '-out',
      'own.crt',
    );
    return { key: this.#read('own.key'), cert: this.#read('own.crt') };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { cwd: this.#folder, stdio: ['ignore', 'ignore', 'pipe'] });
  }

  #read(name: string): string {
    return readFileSync(join(this.#folder, name), 'utf8');
  }
}
