import { objectLines, type TextPart } from '../../model/details/objectLines.ts';

/** A text with highlighted redacted parts. */
export const TextParts = ({ parts }: { readonly parts: readonly TextPart[] }) => (
  <>
    {parts.map(({ text, isRedacted }, at) =>
      isRedacted ? (
        <span key={at} class="hid" title="A secret: the page does not get it">
          <span>held back</span>
        </span>
      ) : (
        text
      ),
    )}
  </>
);

/** An object in YAML notation. */
export const ObjectText = ({ title, object }: { readonly title: string; readonly object: unknown }) => (
  <section class={`sec object ${title.toLowerCase()}`}>
    <h3>{title}</h3>
    <pre>
      {objectLines(object).map(({ indent, key, value }, at) => (
        <div key={at}>
          {indent}
          {key !== '' && <b>{key}:</b>}
          {key !== '' && value.length > 0 && ' '}
          <TextParts parts={value} />
        </div>
      ))}
    </pre>
  </section>
);
