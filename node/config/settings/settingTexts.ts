/** Formats descriptions of settings for the help and docs/reference.md. */
import { lookUp } from '../../../base/lookUp.ts';
import { isGroup, type Setting, type Settings } from './setting.ts';

/**
 * Replaces the placeholders in a text with the defaults of a setting: `{default}`, `{standalone}`, and in the text of a
 * group the path of a field, e.g. `{webhook.cacheTTL}`. `texts` take precedence.
 */
export function withDefaults(
  text: string,
  entry: Settings[string],
  texts: Readonly<Record<string, string>> = {},
): string {
  return text.replaceAll(/\{([\w.]+)\}/g, (_, name: string) => lookUp(texts, name) ?? defaultText(entry, name));
}

function defaultText(entry: Settings[string], name: string): string {
  if (isGroup(entry)) {
    const [field = '', ...rest] = name.split('.');
    const member = lookUp(entry.fields, field);
    if (member === undefined) throw new Error(`there is no field ${name}`);
    return defaultText(member, rest.length > 0 ? rest.join('.') : 'default');
  }
  return valueText(name === 'standalone' ? entry.standaloneDefault : entry.default);
}

const valueText = (value: Setting['default']): string => (value === undefined ? 'none' : String(value));
