/** Where the embeddings of an OpenAI-compatible server are. */

/**
 *     http://127.0.0.1:9997              ->  /v1/embeddings
 *     https://api.openai.com/v1          ->  /v1/embeddings
 *     https://host/v1/embeddings         ->  itself
 *     https://host/x/v3?api-version=2    ->  /x/v3/embeddings?api-version=2
 *
 * @throws Error naming what is wrong; it never quotes the URL, which may hold a key
 */
export function embeddingsUrl(baseUrl: string): URL {
  if (!URL.canParse(baseUrl)) throw new Error('the base URL of the embeddings is no URL');
  const url = new URL(baseUrl);
  if (!/^https?:$/.test(url.protocol)) throw new Error('the base URL of the embeddings is not http or https');
  if (url.username !== '' || url.password !== '')
    throw new Error(
      'the base URL of the embeddings holds a user or password; give the key by its own setting',
    );
  const path = url.pathname.replace(/\/+$/, '');
  if (path === '') url.pathname = '/v1/embeddings';
  else if (!path.endsWith('/embeddings')) url.pathname = `${path}/embeddings`;
  else url.pathname = path;
  url.hash = '';
  return url;
}
