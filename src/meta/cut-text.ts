/** For values in messages. Valid names, keys and values are far shorter; invalid ones may have megabytes. */
const maxShownValue = 16 * 1024;

/** The text, or its beginning and three dots. */
export function cutText(text: string, max = maxShownValue): string {
  return text.length <= max ? text : `${text.slice(0, max)}...`;
}
