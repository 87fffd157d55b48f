/** What vendors count, in one vocabulary. */
import type { Usage } from '#contracts';

/**
 * Parts never exceed their whole, whatever a vendor reports, so that no price computed from them turns negative.
 * Missing counts are 0.
 */
export function usageOf(counts: {
  input?: number | undefined;
  cachedInput?: number | undefined;
  cacheWrite?: number | undefined;
  cacheWriteHour?: number | undefined;
  output?: number | undefined;
  reasoning?: number | undefined;
  audioInput?: number | undefined;
  audioOutput?: number | undefined;
  imageOutput?: number | undefined;
  searches?: number | undefined;
  /** All of the searches were the preview tool's. */
  arePreviews?: boolean | undefined;
  fileSearches?: number | undefined;
  /** USD. */
  charged?: number | undefined;
}): Usage {
  const {
    input = 0,
    cachedInput = 0,
    cacheWrite = 0,
    cacheWriteHour = 0,
    output = 0,
    reasoning = 0,
    audioInput = 0,
    audioOutput = 0,
    imageOutput = 0,
    searches = 0,
    arePreviews = false,
    fileSearches = 0,
    charged,
  } = counts;
  const cached_input_tokens = Math.min(cachedInput, input);
  const cache_write_tokens = Math.min(cacheWrite, input - cached_input_tokens);
  const audio_input_tokens = Math.min(audioInput, input);
  const audio_output_tokens = Math.min(audioOutput, output);
  const image_output_tokens = Math.min(imageOutput, output - audio_output_tokens);
  const cache_write_hour_tokens = Math.min(cacheWriteHour, cache_write_tokens);
  return {
    input_tokens: input,
    cached_input_tokens,
    cache_write_tokens,
    ...(cache_write_hour_tokens > 0 && { cache_write_hour_tokens }),
    output_tokens: output,
    reasoning_tokens: Math.min(reasoning, output),
    ...(audio_input_tokens > 0 && { audio_input_tokens }),
    ...(audio_output_tokens > 0 && { audio_output_tokens }),
    ...(image_output_tokens > 0 && { image_output_tokens }),
    ...searchCounts(searches, arePreviews, fileSearches),
    ...(charged !== undefined && { charged_usd: charged }),
  };
}

/** Nothing where there were none. */
export const searchCounts = (
  searches: number,
  arePreviews: boolean,
  fileSearches: number,
): Pick<Usage, 'search_count' | 'search_preview_count' | 'file_search_count'> => ({
  ...(searches > 0 && { search_count: searches }),
  ...(searches > 0 && arePreviews && { search_preview_count: searches }),
  ...(fileSearches > 0 && { file_search_count: fileSearches }),
});
