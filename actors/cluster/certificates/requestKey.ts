/**
 * The key of a request that outlives the agent, in the file that a kubelet keeps it in until there is a certificate: either
 * goes on with what the other has asked for (`pkg/kubelet/certificate/bootstrap/bootstrap.go` of a kubelet,
 * `util/keyutil/key.go` of client-go).
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { messageOf, NodeFailure } from '../../../base/failure.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import { syncDirectory } from '../../../host/files/syncDirectory.ts';
import { describeContents, parsePemBlocks } from '../../../kubeclient/pemBlocks.ts';
import { isUnread, readTextFile } from '../../sources/yaml/textFile.ts';
import { unusable, writePrivate } from './privateFiles.ts';

const FILE = 'kubelet-client.key.tmp';

export class RequestKey {
  readonly #files: FileSystem;
  readonly #directory: string;
  readonly #path: string;

  constructor(files: FileSystem, directory: string) {
    this.#files = files;
    this.#directory = directory;
    this.#path = join(directory, FILE);
  }

  /**
   * The one of the file, or else a new one, which is there from then on. Of a file that is none `onOther` is told: it is
   * replaced, where a kubelet ends itself. Rejects where nobody can say what is in the file, or where it cannot be written.
   */
  async take(onOther: (failure: NodeFailure) => void): Promise<KeyObject> {
    try {
      const found = await this.#found();
      if (found !== undefined && typeof found !== 'string') return found;
      if (found !== undefined) onOther(new NodeFailure('CertificateUnusable', `${this.#path}: ${found}; ${REPLACED}`));
      const key = newKey();
      await writePrivate(this.#files, this.#path, keyText(key));
      await syncDirectory(this.#files, this.#directory);
      return key;
    } catch (cause) {
      throw unusable(this.#directory, cause);
    }
  }

  /** It has its certificate, or is of no use. That it stays is no harm. */
  async forget(): Promise<void> {
    await this.#files.rm(this.#path, { force: true }).catch(() => {});
  }

  /** A text says what is there instead; undefined for nothing. */
  async #found(): Promise<KeyObject | string | undefined> {
    try {
      const file = await readTextFile(this.#files, this.#path);
      if (file === undefined) return undefined;
      return 'text' in file ? (keyIn(file.text) ?? otherwise(describeContents(file.text))) : otherwise(file.noFile);
    } catch (error) {
      if (isUnread(error)) throw error;
      return messageOf(error);
    }
  }
}

const REPLACED = 'a new key takes its place, and another certificate is requested';
const otherwise = (what: string): string => `expected a private key in PEM, RSA or ECDSA, and found ${what}`;

/** ECDSA on P-256, which is made in less than a millisecond. */
export const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** In PEM, as Go marshals it. */
export const keyText = (key: KeyObject): string =>
  String(key.export({ type: key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'sec1', format: 'pem' }));

const LABELS = ['EC PRIVATE KEY', 'RSA PRIVATE KEY', 'PRIVATE KEY'];
/** Of ECDSA, as OpenSSL calls them. */
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1'];

/** The first that can be used; blocks of something else may stand before it. */
function keyIn(text: string): KeyObject | undefined {
  for (const { pem } of parsePemBlocks(text).filter(({ label }) => LABELS.includes(label))) {
    const key = readKey(pem);
    if (key !== undefined) return key;
  }
  return undefined;
}

function readKey(block: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(block);
    const { namedCurve = '' } = key.asymmetricKeyDetails ?? {};
    return key.asymmetricKeyType === 'rsa' || CURVES.includes(namedCurve) ? key : undefined;
  } catch {
    // Cut off, encrypted, or of another kind.
    return undefined;
  }
}
