import { generic, azure, groq, openai, xai } from './openai-family.js';
import {
  anthropic,
  deepseek,
  fireworks,
  gemini,
  litellm,
  mistral,
  ollama,
  oneApi,
  openrouter,
  together,
} from './other-families.js';
import type { Profile, ProfileName } from './profile.js';

/** Every profile by its name. vLLM has no limits of its own, so a limit in front of it is `generic`. */
export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  openai,
  azure,
  anthropic,
  gemini,
  groq,
  mistral,
  deepseek,
  openrouter,
  together,
  fireworks,
  xai,
  vllm: generic,
  ollama,
  litellm,
  'one-api': oneApi,
  generic,
};
