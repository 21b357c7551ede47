/** Encodes DER data as a PEM block with the given label. */
export function encodePem(label: string, der: Buffer): string {
  const base64Lines = der.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN ${label}-----\n${base64Lines}\n-----END ${label}-----\n`;
}
