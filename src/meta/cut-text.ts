/** Of a value in a message. Names, keys and values that are valid are far shorter; what is not may be megabytes long. */
const maxShownValue = 16 * 1024;

/** The text, or its beginning and three dots. */
export function cutText(text: string, max = maxShownValue): string {
  return text.length <= max ? text : `${text.slice(0, max)}...`;
}
